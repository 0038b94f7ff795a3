"""Typical names of columns for the fields of a case, compared without case, spaces and punctuation."""

from __future__ import annotations

import re

from weighbridge_producer.input.mapping.row_values import Path

_INDEX = re.compile(r"-?\d+")


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: Names of ids, the likeliest first.
ID_NAMES = _names(
    """
    customid caseid caseno casenr casenumber testid testno testcaseid testcaseno testcasenumber exampleid
    datasetitemid datasourceitemid datasetrecordid itemid sampleid questionid qid taskid questionno questionnr questionnumber
    fragenr fragenummer frageid fallnr fallnummer fallid aufgabennr aufgabennummer testnr testnummer testfallnr ticketid ticketno
    ticketnr ticketnumber ticketnummer
    id rowid rowidx recordid docid runid uid uuid guid key index idx number no name
    nr lfdnr kennung identifiant numéro numero identificador identificativo identificatore номер идентификатор
    番号 编号 編號 序号 序號 번호
    """
)
#: Names of items that identify a row only together with what counts its repeats.
ITEM_NAMES = _names(
    "task case testcase test problem scenario item example instance sample question aufgabe fall"
)
#: Names of what tells apart answers to one question that were asked for alike.
REPEAT_NAMES = frozenset(
    _names(
        "seed epoch attempt attemptnumber trial trialid trialnumber repeat repetition repetitionnumber replicate rep iteration"
        " sampleidx sampleindex"
    )
)
#: Names of what differs between the answers to one question.
VARIANT_NAMES = REPEAT_NAMES | frozenset(
    _names(
        """
        model modelname modelid prompt promptid promptversion promptname system agent provider variant run runid
        temperature config experiment promptidx language lang locale filter runname datasetrunname experimentname
        """
    )
)
#: Names of the inputs that are proposed by name, the likeliest first.
USUAL_NAMES: dict[str, tuple[str, ...]] = {
    "expected_output": _names(
        """
        expectedoutput expected expectedanswer expectedresponse groundtruth groundtruthanswer gt gold goldanswer
        goldenanswer goldanswers golden answerkey reference referenceanswer referenceoutput referenceoutputs referencetext
        referenceresponse referenceresponses references ref refs target targets ideal bestanswer correctanswer correct solution
        truth ytrue acceptedanswer acceptedanswers acceptableanswers answers label labels answer actual actualresult
        """
    ),
    "agent_response": _names(
        """
        agentresponse response output actualoutput agentoutput modeloutput modelresponse modelanswer completion
        prediction predictiontext predicted predictedanswer predictedtext predictions pred preds filteredresps
        generation generated generatedtext generatedanswer hypothesis hyp sampled ypred actual actualresult actualresponse
        actualanswer ist istwert istergebnis reply outputs mt result answer text content translation summary
        """
    ),
    "trace": _names(
        "trace trajectory messages conversation transcript history steps spans events log run"
    ),
}
#: Names that may mean the agent's answer as well as the expected one, or something else.
WEAK_NAMES: dict[str, frozenset[str]] = {
    "expected_output": frozenset(
        {"answers", "label", "labels", "answer", "actual", "actualresult"}
    ),
    "agent_response": frozenset({"result", "answer", "text", "content", "translation", "summary"}),
}
#: Names that mean the expected answer only if another column has the agent's.
EITHER_NAMES = frozenset({"answer", "actual", "actualresult"})
#: Names that mean the agent's answer also among the inputs of an evaluation.
STRONG_IN_ASKED = frozenset(
    _names("response agentresponse modelresponse prediction completion actualoutput modeloutput")
)
#: Names of either answer; beside a column that is always the agent's, they are the expected one's.
PLAIN_NAMES = frozenset(_names("output outputs response completion reply"))
#: Names of models.
_MODEL = re.compile(
    "^(?:openai|anthropic|google|meta(?:llama)?|mistralai|xai)?"
    "(?:chatgpt|gpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|qwq|deepseek|grok|davinci"
    r"|phi\d|o[134](?:mini|preview|pro)?$)"
)
#: Names that always mean the agent's answer, whatever is beside it.
_ALWAYS_AGENTS = re.compile(
    "^(?:model|agent|assistant|llm|bot|system)s?(?:output|response|answer|completion|generation|reply|text)s?$"
    "|^y?preds?$|predict(?:ed|ion)|^generat(?:ed|ions?)(?!by|at|from|config|param|seed)|^hyp$|^hypothes[ie]s$"
)
#: Names of wrong answers, which are neither the agent's nor expected.
_WRONG = re.compile("incorrect|wrong|distractor|falsch")
#: Words in names that are less usual, in the likeliest order of fields, in several languages.
_WORDS: dict[str, re.Pattern[str]] = {
    "expected_output": re.compile(
        "expect|reference|groundtruth|gold|target|correct|ideal|solution|^answerkey$|accept(?:ed|able)answers?$|^best(?:answer|response|output|completion)s?$"
        "|erwart|referenz|soll|musterlösung|korrekt|richtig"
        "|attendu|référence|esperad|referencia|referência|gabarito|attes[oa]|riferimento|corrett|verwacht"
        "|oczekiw|wzorcow|beklenen|förvänt|facit|forvent|očekáv|المتوقع|الصحيح|अपेक्षित"
        "|ожидаем|эталон|правильн|正解|期待|標準|标准|参考|參考|正确|正確|정답|기대|예상"
    ),
    "agent_response": re.compile(
        "response|output|answer|completion|predict|generat|reply|hypothes"
        "|antwort|ausgabe|r[ée]ponse|sortie|prédiction|respuesta|salida|predicci[óo]n|risposta|resposta|sa[íi]da|antwoord"
        "|odpowied|odpověď|cevap|yan.t|svar|إجاب|उत्तर"
        "|ответ|вывод|回答|応答|出力|回复|回覆|输出|輸出|预测|預測|응답|답변|출력"
    ),
}
#: Words of names that are measurements, times or verdicts about an answer, in place of an answer.
_ABOUT = re.compile(
    "token|time|latenc|duration|cost|price|score|length|count|relevan|faithful|similar|accura|precision|recall"
    "|(?<!candi)date|format|type|^is|^has|ids?$|url|model$|version|language|zeit|dauer|datum|länge|kosten"
    "|agreement|correctness|groundedness|judge|generator$|hash$"
)
#: Names of what was asked, which is no answer, whatever the names within it.
_ASKED = frozenset(
    _names(
        """
    input inputs userinput prompt prompts question questions query queries instruction instructions request doc
    arguments context contexts retrievedcontexts datasourceitem
    frage eingabe pregunta entrada domanda pergunta vraag invoer вопрос запрос 質問 問題 入力 问题 输入 輸入 질문 입력
    """
    )
)
#: What an `id` within an object of this name identifies is the same in every run; a run's id is not.
_CASES = frozenset(
    _names("case test testcase example sample item datasetitem datasetrecord question task")
)
#: What a `label` is the class of. The label of anything else, as of a prompt or a model, is its title.
_LABELLED = frozenset(
    _names("row doc item datasourceitem example sample data input inputs vars reference target")
)
#: Names of ids, times, hashes and addresses, by which nobody groups results.
_NOT_FOR_GROUPS = re.compile(
    r"(?:^|[\W_])(?:id|ids|uuid|guid|hash|sha|sha256|digest|url|uri|created|updated|started|timestamp|date|time|at)$"
    r"|[a-z](?:Id|Ids|At|Hash|Url|Uri|Time)$|^column \d+$",
    re.IGNORECASE,
)
#: Names of objects with what the agent wrote.
_AGENTS = re.compile(
    "^(?:model|agent|assistant|system|candidate|actual)$"
    "|predict|response|output|completion|generat|hypothes"
)
#: Names of metrics, whose values beside an answer say how good it is.
_METRICS = re.compile(
    r"^(?:acc(?:norm|mutualinfo|uracy)?|exactmatch|em|f1(?:score)?|(?:sacre)?bleu\d?|rouge\w*|meteor|chrf|ter|wer|cer|mcc"
    r"|perplexity|brier(?:score)?|bertscore\w*|pass(?:at)?\d+|score)$"
)
#: Names of objects that judge or measure an answer; what they hold is no answer, whatever its name.
_VERDICTS = frozenset(
    [
        *("feedback", "scores", "score", "metrics", "annotations", "evaluation", "evaluations"),
        *("gradingresult", "usage", "tokenusage", "tokensused", "usagemetadata"),
    ]
)
#: Names that do not tell which text they hold; their parent's name does.
_VALUE_NAMES = frozenset(
    ["answer", "text", "output", "value", "content", "response", "label", "outputs"]
)


def normal(name: str) -> str:
    """Return a name without case, spaces and punctuation."""
    return re.sub(r"[\W_]", "", name).lower()


def is_usual(name: str) -> bool:
    """Return whether a name is a usual one of a column for an id, for a question or for an input of a grader."""
    own = normal(name)
    usual = (ID_NAMES, _ASKED, *USUAL_NAMES.values())
    return any(own in names for names in usual) or any(map(own.__contains__, ("input", "output")))


def names_of(path: str, *, is_only: bool = False) -> list[str]:
    """Return the normalised names that describe a path.

    They are its last one and, while that only says `text` or is the only one in its object, its parents'.
    """
    names: list[str] = []
    for part in reversed(_parts(path)):
        names.append(part)
        if part not in _VALUE_NAMES and not (is_only and len(names) == 1):
            break
    return names or [normal(Path(path).name)]


def id_names_of(path: str) -> set[str]:
    """Return the normalised names of an id: `example.id` is both an `id` and an `exampleid`."""
    parts = _parts(path) or [normal(Path(path).name)]
    around = parts[-2] if len(parts) > 1 else ""
    return {parts[-1], *([around + parts[-1]] if around in _CASES else [])}


def is_within_metadata(path: str) -> bool:
    """Return whether a path is within an object of metadata."""
    return not {"metadata", "meta", "tags"}.isdisjoint(_parts(path)[:-1])


def is_for_groups(path: str) -> bool:
    """Return whether results may be grouped by a value with this name."""
    return not _NOT_FOR_GROUPS.search(Path(path).name)


def may_name_text(path: str) -> bool:
    """Return whether a name is neither an id's nor a measurement's."""
    name = normal(Path(path).name)
    return is_for_groups(path) and name not in ID_NAMES and not _ABOUT.search(name)


def is_metric(path: str) -> bool:
    """Return whether a name is that of a metric."""
    return bool(_METRICS.search(normal(Path(path).name)))


def is_value_name(path: str) -> bool:
    """Return whether a path's last name says nothing about which text it holds."""
    return (_parts(path) or [""])[-1] in _VALUE_NAMES


def is_asked(path: str) -> bool:
    """Return whether a path is, or is within, what was asked."""
    return not _ASKED.isdisjoint(_parts(path))


def can_be(field: str, path: str) -> bool:
    """Return whether a path may hold a field, by the names of the objects around it."""
    around = _parts(path)[:-1]
    if field == "agent_response":
        expected = set(USUAL_NAMES["expected_output"]) - {*EITHER_NAMES, "label", "labels"}
        return (
            not is_asked(path)
            and not _VERDICTS & set(around)
            and expected.isdisjoint(around)
            and not is_reference(path)
        )
    if field == "expected_output":
        name = normal(Path(path).name)
        if name in WEAK_NAMES["expected_output"] and is_agents(path):
            return False
        is_title = name == "label" and bool(around) and not is_within_reference(path)
        return not _VERDICTS & set(around) and not (is_title and around[-1] not in _LABELLED)
    return True


def is_model(path: str) -> bool:
    """Return whether a name is a model's, such as `gpt-4.1`, or begins with it."""
    whole = normal(path)
    names = (normal(Path(path).name), whole)
    return any(map(_MODEL.search, names)) and not _ABOUT.search(whole)


def is_model_alone(path: str) -> bool:
    """Return whether a name is a model's and does not say what of the model it is."""
    return is_model(path) and not _WORDS["agent_response"].search(normal(path))


def is_always_agents(path: str) -> bool:
    """Return whether a name means the agent's answer, whatever is beside it."""
    name = next((each for each in names_of(path) if each not in _VALUE_NAMES), "")
    is_always = bool(_ALWAYS_AGENTS.search(name)) or is_model(path)
    return is_always and not _ABOUT.search(name) and not is_reference(path)


def is_reference(path: str) -> bool:
    """Return whether a name means an expected answer, or one that is known to be wrong."""
    name = normal(Path(path).name)
    strong = set(USUAL_NAMES["expected_output"]) - WEAK_NAMES["expected_output"]
    return name in strong or bool(_WORDS["expected_output"].search(name) or _WRONG.search(name))


def is_wrong(path: str) -> bool:
    """Return whether a name means an answer that is known to be wrong."""
    return bool(_WRONG.search(normal(Path(path).name)))


def is_by_name_expected(path: str) -> bool:
    """Return whether a name means an expected answer and nothing about one."""
    name = normal(Path(path).name)
    is_clear = name in set(USUAL_NAMES["expected_output"]) - WEAK_NAMES["expected_output"]
    return is_clear or has_word_for("expected_output", path)


def is_within_reference(path: str) -> bool:
    """Return whether a path is within an object of what is expected, such as `reference_outputs`."""
    strong = set(USUAL_NAMES["expected_output"]) - WEAK_NAMES["expected_output"]
    return any(
        part in strong or _WORDS["expected_output"].search(part) for part in _parts(path)[:-1]
    )


def is_agents(path: str) -> bool:
    """Return whether a path is within an object with what the agent wrote."""
    return any(
        _AGENTS.search(part) and not _WORDS["expected_output"].search(part)
        for part in _parts(path)[:-1]
    )


def has_word_for(field: str, path: str) -> bool:
    """Return whether a path's name contains a word for a field, and none for a measurement or for another field."""
    pattern = _WORDS.get(field)
    name = normal(Path(path).name)
    is_worded = pattern is not None and bool(pattern.search(name))
    is_worded = is_worded or (field == "agent_response" and is_model(path))
    if not is_worded or _ABOUT.search(name) or _WRONG.search(name) or name in _ASKED:
        return False
    if field == "expected_output":
        return True  # what was asked often contains the correct answer too
    return not is_asked(path) and not _WORDS["expected_output"].search(name)


def _parts(path: str) -> list[str]:
    return [normal(part) for part in Path(path).parts if part and not _INDEX.fullmatch(part)]
