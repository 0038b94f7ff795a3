"""The encoding of a table's text is guessed, or given by name."""

from __future__ import annotations

import io
import time

import pytest

from weighbridge.errors import InputError
from weighbridge.settings import Settings
from weighbridge_producer.input.files.table_form import TableForm
from weighbridge_producer.input.rows.row_formats import RowReader, layout_of
from weighbridge_producer.input.rows.text_encodings import checked_encoding, encoding_of


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "id,output\n1,“it’s” – fine…\n"),
        ("cp1252", "id,output\n1,5 €\n"),
        ("cp1252", "id,output\n1,12 m²\n"),
        ("cp1252", "id,output\n1,café\n"),
        ("cp1252", "id;text\n1;Grüße aus Köln\n"),
        ("cp1252", "id;text\n1;¿Qué comió el niño?\n"),
        ("cp1252", "id;text\n1;Les élèves vont à l’école\n2;Le garçon était déjà là\n"),
        ("cp1250", "id;odpowiedź;wzorzec\n0;Łódź, święto źrebięcia;Łódź\n"),
        ("cp1250", "id;text\n1;Maćka więcej się\n2;Święta Łucja, źródło i żaba\n"),
        ("cp1250", "id;text\n1;Příliš žluťoučký kůň\n"),
        ("cp1250", "id;text\n1;Árvíztűrő tükörfúrógép\n"),
        ("cp1251", "id;ответ;эталон\n1;Москва — столица;Минск\n"),
        ("cp1251", "id,a\n1,да\n2,нет\n"),
        ("cp1251", "id;ОТВЕТ\n1;Москва\n2;НЕТ, это не МОСКВА\n"),
        ("koi8_r", "id;ответ\n1;Москва столица\n"),
        ("cp1254", "id;text\n1;İstanbul’da yağmur yağıyor\n2;Türkiye’nin başkenti Ankara’dır\n"),
        ("cp1253", "id;text\n1;Η Αθήνα είναι η πρωτεύουσα\n"),
        ("cp1255", "id;text\n1;שלום עולם\n"),
        ("cp1256", "id;text\n1;مرحبا بالعالم\n"),
        ("cp874", "id;text\n1;กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย\n"),
        ("cp932", "id,答え\n1,東京は日本の首都です\n"),
        ("gb18030", "id,答案\n1,北京是中国的首都\n"),
        ("big5", "id,答案\n1,台北是台灣的首都\n"),
        ("cp949", "id,답\n1,서울은 한국의 수도\n"),
        ("utf-16-le", "id,output\n1,abc\n"),
        ("utf-16-be", "id,output\n1,abc\n"),
        ("utf-16-le", "id,答案\n1,北京是中国的首都\n"),
    ],
)
def test_short_texts_come_out_right(encoding: str, text: str) -> None:
    assert text.encode(encoding).decode(encoding_of(text.encode(encoding))) == text


def test_only_the_first_words_of_a_long_text_are_weighed() -> None:
    data = "id;ответ\n".encode("cp1251") + "Москва столица\n".encode("cp1251") * 17_000
    begun = time.process_time()
    assert encoding_of(data) == "cp1251"
    assert time.process_time() - begun < 2


def test_a_given_encoding_is_used_and_printed() -> None:
    data = "id,text\n1,více\n".encode("cp1250")
    reader = RowReader("a.csv", Settings(), form=TableForm("cp1250"))
    assert [row.values for row in reader.read(io.BytesIO(data))] == [{"id": "1", "text": "více"}]
    assert str(reader.layout) == "CSV (CP1250, comma-separated)"


@pytest.mark.parametrize(
    ("name", "mark"), [("utf-8", b"\xef\xbb\xbf"), ("utf-16", b"\xff\xfe"), ("utf-16", b"")]
)
def test_a_given_encoding_leaves_a_mark_out(name: str, mark: bytes) -> None:
    text = "id,text\n1,é\n".encode("utf-8" if name == "utf-8" else "utf-16-le")
    reader = RowReader("a.csv", Settings(), form=TableForm(name))
    found = list(reader.read(io.BytesIO(mark + text)))
    assert [row.values for row in found] == [{"id": "1", "text": "é"}]


@pytest.mark.parametrize("given", ["utf-8", "utf-16", "utf-16-le", "shift_jis"])
def test_an_encoding_that_text_cannot_have_is_refused_with_a_likelier_one(given: str) -> None:
    data = "id,text\n1,Grüße\n".encode("cp1252")
    form = TableForm(checked_encoding(given))
    with pytest.raises(InputError, match=r"the text is not .*--encoding cp1252"):
        layout_of(data, "a.csv", is_whole=True, form=form)


def test_a_byte_that_a_given_encoding_lacks_is_a_fault_of_its_row() -> None:
    data = "id,text\n1,é\n2,é\n3,é\n".encode() + b"4,\xff\n"
    reader = RowReader("a.csv", Settings(), form=TableForm("utf-8"))
    assert [row.values["text"] for row in reader.read(io.BytesIO(data))][:3] == ["é"] * 3


@pytest.mark.parametrize("name", ["nope", "rot13", "base64", "", "a\0b", "é" * 200])
def test_an_unknown_encoding_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"the encoding .* is unknown.*such as utf-8"):
        checked_encoding(name)


def test_encodings_are_for_tables_in_text() -> None:
    with pytest.raises(InputError, match=r"'a.jsonl' is JSON Lines.*for CSV and TSV"):
        list(
            RowReader("a.jsonl", Settings(), form=TableForm("cp1252")).read(io.BytesIO(b'{"a":1}'))
        )
