"""The names under which programs record the facts of a step or of a run, the most telling first."""

from __future__ import annotations

import re
import unicodedata

_OTHER = re.compile(r"[\W_]+")


def normal(name: str) -> str:
    """Return a name in lower case, without accents and what separates its words."""
    return _OTHER.sub("", without_accents(name).lower())


def without_accents(text: str) -> str:
    """Return a text with the plain letters of those that have accents."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    return "".join(char for char in parts if not unicodedata.combining(char))


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
    "output response answer completion modeloutput llmoutput content text solution message resulttext finalanswer responsetext answertext outputtext modelresponse llmresponse reply"
)
THOUGHT = _names(
    "thought thoughts modeloutput llmoutput llmresponse reasoning rationale thinking why"
)
#: Texts beside calls that are of a model if some stand without a call.
REMARKS = _names("note notes comment comments text message content say")
PROMPT = _names("prompt messages inputmessages userprompt input question")
ERROR = _names("error errormessage errormsg exception err iserror errortext")
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
BEGINS = frozenset(_names("start started starting begin begun"))
HALVES_ENDED = frozenset(
    _names("end ended finish finished complete completed success ok error failed failure")
)
#: Further ones of fields for that, which elsewhere may be names of actions.
PHASES_BEGUN = BEGINS | frozenset(
    _names(
        "before pre request requested input enter entered pending queued running progress invoked invoking executing"
    )
)
PHASES_ENDED = HALVES_ENDED | frozenset(
    _names(
        "done after post response responded output exit exited result return returned succeeded cancelled canceled timeout"
    )
)
ESTIMATES = _names("tokenestimate estimatedtokens")  #: of tokens
COST = _names("costusd usd totalcostusd costinusd estimatedcostusd cost totalcost price")
STARTED = _names("startedat starttime timestampstart start startts starttimestamp")
ENDED = _names("endedat endtime timestampend end endts endtimestamp finishedat completedat")
TIME = _names("timestamp ts time t at createdat datetime")
DURATION_MS = _names(
    "durationms latencyms totaldurationms elapsedms totallatencyms elapsedtimems executiontimems tookms runtimems ms"
    " duracaoms duracionms dureems dauerms"
)
DURATION_S = _names(
    "durations durationsec durationsecs durationseconds latencys latencysec latencysecs latencyseconds elapseds elapsedsec"
    " elapsedseconds executiontimes executiontimesec executiontimeseconds tooksec tookseconds seconds"
)
#: Durations that do not say their unit.
DURATION = _names("duration latency elapsed elapsedtime executiontime runtime took")
KIND = _names(
    "type kind event eventtype steptype messagetype role phase action label step stage op operation name sender from"
    " source speaker author node"
)
#: Of these, those that name who speaks.
SPEAKER = frozenset(_names("role sender from source speaker author"))
#: Fields whose words may tell the beginning of a step from its end.
PHASES = frozenset(
    _names(
        "phase stage status state subtype lifecycle direction progress point moment event eventtype"
    )
)
#: Of these, those that a step may keep.
STATES = frozenset(_names("stage status state subtype progress"))
#: Ids that one step or call has for its own.
OWN_ID = frozenset(
    _names("id messageid callid toolcallid tooluseid invocationid actionid eventid spanid uuid")
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
#: Words of actions that are answers or outcomes, and no calls of tools.
OUTCOMES = frozenset(
    _names(
        "respond reply answer ask finish done stop error failed blocked crash crashed insufficient timeout none noop skip"
    )
)
EXIT_CODES = frozenset(_names("exitcode returncode"))
STATE_OF_CALL = _names("success ok exitcode returncode status succeeded issuccess outcome state")
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
#: Words in the names of fields whose values recur, but tell neither tools nor kinds of steps.
NO_KINDS = frozenset(
    _names(
        "level severity status state outcome model version format language provider env host domain failure error mode"
        " category difficulty label tag split task verdict grade score"
    )
)
#: Words of events around calls, such as the end of a run.
AROUND = frozenset(
    _names(
        "run session workflow pipeline job init setup start started begin complete completed end ended finish finished error"
        " failed failure active inactive actual activity"
    )
)
#: States of calls that failed.
FAILED = frozenset(
    _names(
        "error failed failure errored timeout timedout blocked denied rejected crash crashed exception erro falha fehler"
        " fehlgeschlagen echec erreur ошибка 失败"
    )
)
#: Words in the names of ids that are of parts of a run, or of what several runs have in common.
NOT_OF_RUNS = frozenset(
    _names(
        "call step message msg span event parent user account model agent tool request log turn node project tenant org"
        " customer prompt response generation"
    )
)
#: Words in the names of fields that state something about another one.
ABOUT = frozenset(
    _names(
        "count num number n len length chars tokens time timestamp duration ms sec seconds status state success ok"
        " version level index hash truncated path url uri score cost reason kind"
    )
)
