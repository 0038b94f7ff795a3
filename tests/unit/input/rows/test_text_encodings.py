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


#: Sentences of languages, with the encoding in which spreadsheets write them.
_SENTENCES = [
    ("cp1252", "Où est né Molière ?|Côté été, où ça ?|Élève naïve, façon|L’œuvre coûte 5 €|Noël à Orléans|aiguë"),
    ("cp1252", "Der Müller fährt über die Brücke|Größe und Gewicht|Äpfel, Öl und Übung|Straßen für alle"),
    ("cp1252", "¿Dónde está la estación?|Mañana por la mañana|Sí, señor|el pingüino comió más|avión"),
    ("cp1252", "Não há razão para isso|São Paulo é maior|três ações e um coração|você já comeu maçã à noite?"),
    ("cp1252", "La città è più bella|perché no?|È vero|così può già|la virtù e l’università"),
    ("cp1252", "geïnd in België|twee coördinaten|één idee|ideeën kopiëren|de financiën"),
    ("cp1252", "El català és llengua|la ciència política|què és això?|qüestió de memòria|paràmetre vàlid"),
    ("cp1252", "Æblet på bordet|København er større|blåbærgrød til frøken|rødgrød"),
    ("cp1252", "Malmö är en stad|smörgås på båten|Åre och Östersund|mångfald för alla"),
    ("cp1252", "Hyvää päivää|Tämä on pöytä|Älä yöllä|mikä päivä tänään"),
    ("cp1252", "Það er gott veður|Þingvellir við Öxará|Reykjavík í júní|ekki að því"),
    ("cp1250", "Zażółć gęślą jaźń|Łódź leży w środkowej części|święto źrebięcia|być może"),
    ("cp1250", "Příliš žluťoučký kůň|úpěl ďábelské ódy|důležité město|Děkuji, dům č. 5|řeka"),
    ("cp1250", "Kôň žerie ďatelinu|päť dní v týždni|Čo je to za ľudí|mňa a vŕba|dážď"),
    ("cp1250", "Árvíztűrő tükörfúrógép|Győr és Pécs|a főváros szép|őrült fűző|köszönöm"),
    ("cp1250", "Timişoara şi Iaşi|înţeleg întrebarea|mâine dimineaţă|ţară frumoasă|să văd"),
    ("cp1250", "Žaba šeta đačke|čaša i ćup|što je među nama|džep i ključ|sreća"),
    ("cp1254", "İstanbul’da yağmur yağıyor|güneş doğdu|şeker çok tatlı|Iğdır’ın köyü|öğrenci"),
    ("cp1257", "Vilnius yra Lietuvos sostinė|ačiū už pagalbą|žąsys ir ėriukai|šiandien šilta|įdomūs būdai"),
    ("cp1257", "Rīga ir Latvijas galvaspilsēta|lūdzu, pasakiet|ļoti labi|ķīniešu ēdiens|šodien ģimenē"),
    ("cp1257", "Tallinn on Eesti pealinn|öö on pikk|täna õhtul|režiimi lõpetav võti|üks väike mõte"),
    ("cp1251", "Москва — столица России|Да, можно вернуть|Нет, доставка дольше|Спасибо"),
    ("cp1251", "Київ — столиця України|Так, їжте|Ні, ще є час|Ґанок і щось"),
    ("cp1253", "Η Αθήνα είναι η πρωτεύουσα|Ναι, μπορείτε|Όχι ακόμη|ευχαριστώ πολύ"),
    ("cp932", "東京は日本の首都です|はい、返品できます|いいえ、三日かかります|ありがとう"),
    ("gb18030", "北京是中国的首都|可以退货|订单将在三天内送达|感谢您的咨询"),
    ("big5", "台北是台灣的首都|可以退貨|訂單將在三天內送達|感謝您的諮詢"),
    ("cp949", "서울은 한국의 수도입니다|네, 반품할 수 있습니다|아니요, 사흘 걸립니다|감사합니다"),
]  # fmt: skip


@pytest.mark.parametrize("times", [1, 40], ids=["short", "long"])
@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize(("encoding", "sentences"), _SENTENCES)
def test_tables_of_many_languages_come_out_right(
    encoding: str, sentences: str, separator: str, times: int
) -> None:
    rows = [f'{row}{separator}"{row}"' for row in sentences.split("|") * times]
    text = "\n".join([f"output{separator}expected", *rows])
    data = text.encode(encoding)
    assert data.decode(encoding_of(data)) == text


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("cp1252", "naïve façon œuvre Côté où ça? Élève"),
        ("cp1252", "maïs Noë aiguë"),
        ("cp1252", "Saint-Loup-sur-Noë maïs Citroën haïr"),
        ("cp1252", "où Noël"),
        ("cp1252", "città più"),
        ("cp1252", "què ciència"),
        ("cp1252", "België coördinatie"),
        ("cp932", "東京都です"),
        ("cp932", "エラー"),
        ("cp1250", "července dům"),
        ("cp1257", "būdai šiandien"),
        ("cp1251", "да нет"),
    ],
)
def test_a_few_words_repeated_many_times_come_out_right(encoding: str, words: str) -> None:
    rows = [f"{number},{word},{word}" for number, word in enumerate(words.split() * 20)]
    text = "\n".join(["id,output,expected", *rows])
    data = text.encode(encoding)
    assert data.decode(encoding_of(data)) == text


@pytest.mark.parametrize(
    ("encoding", "text", "is_said"),
    [
        ("cp1250", "id,a\n1,Franceză\n", True),
        ("cp1250", "id,a\n1,Łódź, święto źrebięcia\n", False),
        ("cp1252", "id,a\n1,Où est né Molière ?\n", False),
        ("cp1250", "id,a\n1,é\n", False),
    ],
    ids=["one word", "clear", "western", "same text"],
)
def test_a_text_that_fits_two_encodings_is_said_to(encoding: str, text: str, is_said: bool) -> None:
    layout = layout_of(text.encode(encoding), "a.csv", is_whole=True)
    assert (f"{encoding.upper()}, or perhaps CP1252" in str(layout)) == is_said
    given = layout_of(text.encode(encoding), "a.csv", is_whole=True, form=TableForm(encoding))
    assert "perhaps" not in str(given)


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
