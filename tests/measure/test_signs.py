"""Names and values of columns: what looks like an identifier, and what only seems to."""

import pytest

from shoal.data.schema import Role
from shoal.measure.signs import NAME_SIGNS, SAFE_HARBOUR, VALUE_SIGNS, NameSign

IDENTIFYING, QUASI, SENSITIVE = Role.IDENTIFYING, Role.QUASI, Role.SENSITIVE

NAMES = {
    "A": ["name", "First_Name", "lastName", "Nachname", "VORNAME", "prénom", "Apellidos"],
    "B": ["address", "Straße", "Anschrift", "adresse", "dirección", "ZIP", "PLZ", "code_postal"],
    "C": ["dob", "Date of Birth", "Geburtsdatum", "date_naissance", "fecha_nacimiento", "age"],
    "D": ["phone2", "Telefonnummer", "téléphone", "teléfono", "mobile"],
    "E": ["fax", "Faxnummer", "télécopie"],
    "F": ["e-mail", "EMail", "courriel", "correo electrónico"],
    "G": ["SSN", "Sozialversicherungsnummer", "numero_securite_sociale", "seguridad social"],
    "H": ["MRN", "patient_id", "Patientennummer", "numéro de dossier", "historia clínica"],
    "I": ["insurance_number", "Versichertennummer", "numéro d'assuré", "número de afiliado"],
    "J": ["IBAN", "account number", "Kontonummer", "numéro de compte", "número de cuenta"],
    "K": ["driver_license", "licence number", "Führerschein", "permis de conduire"],
    "L": ["license_plate", "VIN", "Kennzeichen", "immatriculation", "matrícula"],
    "M": ["device_id", "IMEI", "Seriennummer", "numéro de série", "MAC address"],
    "N": ["url", "homepage", "site web", "página web"],
    "O": ["ip", "IPAddress", "adresse_ip", "dirección IP"],
    "P": ["fingerprint", "voice_print", "Fingerabdruck", "empreinte digitale", "huella dactilar"],
    "Q": ["photo", "Passbild", "fotografía"],
    "R": ["passport", "Personalausweisnummer", "passeport", "DNI", "customer id"],
}
SAID = [(letter, name) for letter, names in NAMES.items() for name in names]


def signs_of(name: str) -> list[NameSign]:
    return [sign for sign in NAME_SIGNS if sign.matches(name) and not sign.weak]


def test_there_are_eighteen_and_each_has_words_for_it() -> None:
    assert "".join(SAFE_HARBOUR) == "ABCDEFGHIJKLMNOPQR"
    assert {sign.letter for sign in NAME_SIGNS} - {""} == set(SAFE_HARBOUR) == set(NAMES)
    assert {sign.letter for sign in VALUE_SIGNS} - {""} <= set(SAFE_HARBOUR)


@pytest.mark.parametrize(("letter", "name"), SAID, ids=[name for _, name in SAID])
def test_identifiers_are_known_by_their_names(letter: str, name: str) -> None:
    assert signs_of(name)[0].letter == letter


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("sex", QUASI),
        ("Geschlecht", QUASI),
        ("native-country", QUASI),
        ("workclass", QUASI),
        ("EDUC1", QUASI),
        ("état civil", QUASI),
        ("Diagnose", SENSITIVE),
        ("maladie", SENSITIVE),
        ("salary-class", SENSITIVE),
        ("Einkommen", SENSITIVE),
        ("religión", SENSITIVE),
        ("Miete kalt", SENSITIVE),
        ("Betrag (€)", SENSITIVE),
        ("amount", SENSITIVE),
        ("Bemerkung", IDENTIFYING),
        ("comments", IDENTIFYING),
    ],
)
def test_other_roles_are_known_by_names(name: str, role: Role) -> None:
    assert signs_of(name)[0].role is role


@pytest.mark.parametrize(
    "name",
    [
        "update",
        "packages",
        "sextant",
        "postoperative",
        "nombre de visites",
        "shipping",
        "note",
        "rename",
        "cells",
        "hospital name",
        "number_of_visits",
        "insurance",
        "ward",
        "plaque_index",
    ],
)
def test_words_inside_other_words_are_no_sign(name: str) -> None:
    assert signs_of(name) == []


VALUES = {
    "e-mail addresses": (["ann@example.org", "a.b+c@x.co.uk"], ["ann@", "@ann", "a b@c.de"]),
    "social security numbers": (["123-45-6789"], ["000-45-6789", "123-00-6789", "123456789"]),
    "IBANs, with their check digits": (
        ["GB82 WEST 1234 5698 7654 32", "DE89370400440532013000"],
        ["DE89370400440532013001", "DE88370400440532013000", "DE89"],
    ),
    "payment card numbers, with their check digit": (
        ["4111 1111 1111 1111", "378282246310005", "5555-5555-5555-4444"],
        ["4111 1111 1111 1112", "1111111111111117", "4111"],
    ),
    "IP addresses": (["192.0.2.1", "2001:db8::1"], ["192.0.2.256", "1.2.3", "12"]),
    "hardware (MAC) addresses": (["00:1A:2b:3c:4d:5e"], ["00:1A:2b:3c:4d", "00:1G:2b:3c:4d:5e"]),
    "image files": (["faces/ann.JPG"], ["ann.csv", ".png", "jpg"]),
    "web addresses": (["https://example.org/ann", "www.example.org"], ["example", "http:/x"]),
    "UUIDs": (["123e4567-e89b-12d3-a456-426614174000"], ["123e4567-e89b-12d3-a456"]),
    "telephone numbers": (
        ["+49 30 123456", "030/1234567", "(555) 123-4567", "0033 1 23 45 67 89"],
        ["1234567", "01.02.2020", "2020-01-02", "+49", "12.5", "+1234567890123456"],
    ),
    "dates": (
        ["2020-02-29", "29.2.2020", "2/29/20", "2020-02-29T12:00:00Z"],
        ["2021-02-29", "2020", "12.5", "2020-13-01", "1.2.3.4"],
    ),
    "free texts, which may name anybody": (
        ["lives with her mother in Ulm", "rief an, wegen der Akte von Herrn Groß"],
        ["lives with her mother", "strongly agree", "Donaudampfschifffahrtsgesellschaft"],
    ),
}


def test_every_pattern_is_tried() -> None:
    assert set(VALUES) == {sign.what for sign in VALUE_SIGNS}


@pytest.mark.parametrize("sign", VALUE_SIGNS, ids=lambda sign: sign.what)
def test_patterns_know_their_values_from_what_is_nearly_so(sign: object) -> None:
    [known] = [one for one in VALUE_SIGNS if one is sign]
    right, wrong = VALUES[known.what]
    assert [text for text in right if not known.matches(text)] == []
    assert [text for text in wrong if known.matches(text)] == []
