"""The names under which programs record the facts of a step or of a run, the most telling first."""

from __future__ import annotations

import re

_OTHER = re.compile(r"[^a-z0-9]+")


def normal(name: str) -> str:
    """Return a name in lower case, without what separates its words."""
    return _OTHER.sub("", name.lower())


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TOOL = _names(
    "toolname tool toolcalled toolused toolid functionname function fn actionname actiontype"
)
#: Objects that hold the name of a tool beside its arguments.
TOOL_OBJECTS = frozenset(
    _names("tool toolcall function functioncall call action params payload data")
)
#: Names of a tool's name within those.
NAME_IN_OBJECT = _names("toolname tool name functionname function action type")
PLAIN_NAME = "name"  #: of a tool only beside arguments
PLAIN_ACTION = "action"  #: likewise
ARGUMENTS = _names(
    "arguments args toolargs toolinput toolarguments toolparams actioninput actionargs inputargs parameters params kwargs"
    " input executed requested request command query"
)
#: Of these, those that make a `name` or an `action` beside them that of a tool.
SURE_ARGUMENTS = ARGUMENTS[: ARGUMENTS.index("executed")]
RESULT = _names(
    "result tooloutput toolresult toolresponse observation output response returnvalue stdout feedback"
)
ANSWER = _names(
    "output response answer completion modeloutput llmoutput content text solution message resulttext finalanswer"
)
THOUGHT = _names("thought thoughts modeloutput llmoutput llmresponse")
PROMPT = _names("prompt messages inputmessages userprompt input question")
ERROR = _names("error errormessage errormsg exception err")
MODEL = _names("model modelname modelid llmmodel llm modelidreported modelused deployment engine")
INPUT_TOKENS = _names(
    "inputtokens prompttokens tokensin tokensinput tokensprompt inputtokencount prompttokencount promptevalcount"
)
OUTPUT_TOKENS = _names(
    "outputtokens completiontokens tokensout tokensoutput tokenscompletion outputtokencount completiontokencount"
    " candidatestokencount evalcount"
)
TOTAL_TOKENS = _names("totaltokens totaltokencount tokenstotal tokens tokencount tokensused")
CACHED_TOKENS = _names(
    "cachedtokens cachereadtokens cachereadinputtokens cachedinputtokens cachecreationinputtokens"
)
TOKEN_OBJECTS = frozenset(_names("tokens usage tokenusage tokencounts"))
#: Words for the beginning of a step, and for its end.
BEGINS = frozenset(_names("start started begin begun"))
HALVES_ENDED = frozenset(
    _names("end ended finish finished complete completed success ok error failed failure")
)
ESTIMATES = _names("tokenestimate estimatedtokens")  #: of tokens
COST = _names("costusd usd totalcostusd costinusd estimatedcostusd cost totalcost price")
STARTED = _names("startedat starttime timestampstart start startts starttimestamp")
ENDED = _names("endedat endtime timestampend end endts endtimestamp finishedat completedat")
TIME = _names("timestamp ts time t at createdat datetime")
DURATION_MS = _names("durationms latencyms totaldurationms elapsedms totallatencyms")
KIND = _names(
    "type kind event eventtype steptype messagetype role phase action label step stage op operation name sender from"
    " source"
)
CALL_ID = _names("toolcallid tooluseid callid invocationid actionid id")
CALLS = _names("toolcalls calls actions toolinvocations functioncalls")
#: Lists of names that may be of the tools called, or of those offered.
TOOL_LISTS = _names("tools toolsused toolscalled toolnames")
#: What all lines of a run have in common.
RUN_ID = _names(
    "runid sessionid traceid conversationid threadid episodeid taskid run session trace conversation thread episode requestid"
    " chatid qid testid caseid"
)
#: Of these, those that may be of a single call.
CALL_OR_RUN_ID = frozenset(_names("requestid"))
TRACE_ID = _names(
    "runid sessionid traceid conversationid threadid taskid testid caseid qid id slug testname name"
)
METADATA = frozenset(
    _names(
        "task taskid question query goal category difficulty status verdict outcome success dataset benchmark benchmarkname"
        " provider agent agenttype"
    )
)
#: Numbers of things in a run, beside which tokens are totals.
TOTALS_LLM = _names("llmcalls modelcalls apicalls numllmcalls")
TOTALS_TOOL = _names(
    "toolcalls numtoolcalls ntoolcalls totaltoolcalls toolcallcount toolcallscount"
)
TOTALS_UNSURE = _names(
    "stepstaken totalsteps steps turns numturns numsteps nsteps iterations iterationsused calls totalcalls spans"
)
SCHEMA = _names("parameters inputschema schema argsschema")  #: of the arguments of a tool
#: Actions that end a run.
ENDS = frozenset(_names("finish final finalanswer answer done stop end submit complete none"))
EXIT_CODES = frozenset(_names("exitcode returncode"))
STATE_OF_CALL = _names("success ok exitcode returncode status")
#: Names of arrays of steps, the likeliest first.
STEPS = _names(
    "steps events trace traces trajectory toolcalls calls actions messages rounds turns iterations logs log logevents"
    " executionlog history"
)
#: Of these, those that a model call has not, unlike messages and calls.
RUN_STEPS = frozenset(
    _names(
        "steps events trace traces trajectory rounds turns iterations log logs logevents executionlog"
    )
)
#: Likewise, those of which the objects are no runs.
STEPS_NOT_RUNS = frozenset(STEPS) - {"trace", "traces", "iterations", "history"}
