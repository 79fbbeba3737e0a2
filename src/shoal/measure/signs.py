"""Signs that a column is about somebody: words in its name, and patterns of its values.

Data, and how names and values are compared with it. The words are English, German, French and
Spanish. Each sign of an identifier says which of the eighteen it is that HIPAA's safe harbour
removes, 45 CFR 164.514(b)(2)(i)(A) to (R). Uses `data`; `suggesting` uses it.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address

from shoal.data.kinds import Kind
from shoal.data.schema import Role

__all__ = [
    "NAME_SIGNS",
    "READY_SIGNS",
    "SAFE_HARBOUR",
    "VALUE_SIGNS",
    "NameSign",
    "ReadySign",
    "ValueSign",
]

SAFE_HARBOUR = {
    "A": "names",
    "B": "geographic subdivisions smaller than a state",
    "C": "dates directly related to a person, and ages over 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "e-mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan beneficiary numbers",
    "J": "account numbers",
    "K": "certificate and licence numbers",
    "L": "vehicle identifiers, with licence plates",
    "M": "device identifiers and serial numbers",
    "N": "web addresses (URLs)",
    "O": "IP addresses",
    "P": "biometric identifiers, with finger and voice prints",
    "Q": "full-face photographs and comparable images",
    "R": "any other unique identifying number, characteristic or code",
}
"""The eighteen identifiers, by their letters in 45 CFR 164.514(b)(2)(i)."""


# Names of columns


@dataclass(frozen=True)
class NameSign:
    """Words in the name of a column.

    what: what a column of that name holds
    letter: which of the eighteen identifiers that is; empty if it is none
    words: phrases with commas between them. A blank may be missing in the name, `*` stands for any
    letters, and what begins with `=` is the whole name
    weak: whether the words also name other things, so that the values must differ too
    """

    what: str
    role: Role
    letter: str
    words: str
    weak: bool = False

    def matches(self, column: str) -> bool:
        """Whether a column has such a name.

        >>> birth = next(sign for sign in NAME_SIGNS if sign.what == "a date of birth")
        >>> birth.matches("DateOfBirth"), birth.matches("Geburtsdatum"), birth.matches("update")
        (True, True, False)
        """
        return _pattern(self.words).search(_plain(column)) is not None


@dataclass(frozen=True)
class ReadySign:
    """Words in the name of a column for which a hierarchy is ready-made.

    hierarchy: its name
    words: as for a `NameSign`
    """

    hierarchy: str
    words: str

    def matches(self, column: str) -> bool:
        """Whether a column has such a name.

        >>> [sign.hierarchy for sign in READY_SIGNS if sign.matches("ISCO08_code")]
        ['isco-08']
        """
        return _pattern(self.words).search(_plain(column)) is not None


_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W\d_]+")


def _plain(column: str) -> str:
    """A name as lower-case words without accents, digits and signs."""
    letters = unicodedata.normalize("NFKD", column)
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return _BOUNDARY.sub(" ", bare).casefold().strip()


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile("|".join(map(_expression, words.split(","))))


def _expression(phrase: str) -> str:
    whole = phrase.strip()
    letters = whole.removeprefix("=").replace(" ", " ?").replace("*", "[a-z]*")
    if whole.startswith("="):
        return f"^{letters}$"
    return rf"(?<![a-z]){letters}(?![a-z])"


def _identifying(what: str, letter: str, words: str, weak: bool = False) -> NameSign:
    return NameSign(what, Role.IDENTIFYING, letter, words, weak)


def _quasi(what: str, letter: str, words: str) -> NameSign:
    return NameSign(what, Role.QUASI, letter, words)


def _sensitive(what: str, words: str) -> NameSign:
    return NameSign(what, Role.SENSITIVE, "", words)


NAME_SIGNS = (
    _identifying(
        "a person's name",
        "A",
        "=name, =names, full name, first name, last name, middle name, given name, family name, "
        "fore name, sur name, maiden name, birth name, nick name, patient* name, person name, "
        "customer name, client name, employee name, student name, initials, =namen, *vorname, "
        "*nachname, familienname, zuname, geburtsname, rufname, patientenname, =nom, prenom*, "
        "nom de famille, nom complet, nom du patient, nom patient, patronyme, =nombre, "
        "nombre completo, nombre de pila, nombre del paciente, apellido*",
    ),
    _identifying(
        "an e-mail address",
        "F",
        "e mail*, mail, mail address, mail adresse, courriel, correo, correo electronico",
    ),
    _identifying("a fax number", "E", "*fax, fax number, telefax*, faxnummer, telecopie"),
    _identifying(
        "a telephone number",
        "D",
        "*phone, phone*, telephone*, mobile, mobile number, cell number, tel, *telefon*, "
        "handy, handynummer, rufnummer, mobilnummer, telefono, movil",
    ),
    _identifying(
        "a social security number",
        "G",
        "ssn, social security, social security number, social insurance number, nino, "
        "sozialversicherung*, svnr, sv nummer, rentenversicherungsnummer, ahv*, "
        "numero de securite sociale, securite sociale, =nir, seguridad social, nss",
    ),
    _identifying(
        "a medical record number",
        "H",
        "mrn, medical record*, chart number, patient* id, "
        "patient* number, patient* no, patient* key, patient* code, =patient, =patients, pid, "
        "patienten nummer, patientennummer, patienten nr, fallnummer, aktenzeichen, aktennummer, "
        "numero de dossier, dossier medical, identifiant patient, ipp, historia clinica, "
        "numero de historia, nhc",
    ),
    _identifying(
        "a health plan beneficiary number",
        "I",
        "beneficiary*, insurance number, insurance no, insurance id, policy number, "
        "health plan*, medicare*, medicaid*, nhs number, nhs no, member id, member number, "
        "subscriber id, versichertennummer, versicherten nr, versicherungsnummer, "
        "krankenversichertennummer, kvnr, numero d assure*, numero assure, "
        "numero de afiliado, numero de asegurado, tarjeta sanitaria",
    ),
    _identifying(
        "an account number",
        "J",
        "iban, bic, account number, account no, account id, =account, bank account, "
        "credit card*, card number, konto*, kontonummer, bankverbindung, kreditkarte*, "
        "numero de compte, compte bancaire, carte bancaire, carte de credit, numero de cuenta, "
        "cuenta bancaria, tarjeta de credito",
    ),
    _identifying(
        "a certificate or licence number",
        "K",
        "licen[cs]e number, licen[cs]e no, licen[cs]e id, driver* licen[cs]e*, "
        "driving licen[cs]e*, certificate number, certificate no, certificate id, "
        "fuhrerschein*, fuehrerschein*, permis de conduire, numero de certificat, "
        "permiso de conducir, carnet de conducir, numero de licencia",
    ),
    _identifying(
        "a vehicle's plate or number",
        "L",
        "licen[cs]e plate*, number plate*, plate number, registration plate, vin, "
        "vehicle id*, vehicle registration, kennzeichen, kfz*, fahrgestellnummer, "
        "plaque d immatriculation, immatriculation, matricula, bastidor",
    ),
    _identifying(
        "a device or serial number",
        "M",
        "device id*, device number, device serial*, serial number, serial no, serial, imei, "
        "imsi, mac address, =mac, udid, geratenummer, geraetenummer, geratekennung, "
        "seriennummer, numero de serie, adresse mac, direccion mac",
    ),
    _identifying(
        "a web address",
        "N",
        "url, urls, uri, website, web site, web page, homepage, home page, web address, "
        "webadresse, internetadresse, site web, pagina web, sitio web",
    ),
    _identifying(
        "an IP address",
        "O",
        "ip, ipv, ip address, ip addr, ip adresse, adresse ip, direccion ip",
    ),
    _identifying(
        "a biometric identifier",
        "P",
        "finger print*, voice print*, biometric*, iris scan, retina scan, dna sequence, "
        "fingerabdruck*, biometrisch*, empreinte*, empreinte digitale, biometrique*, "
        "huella*, huella dactilar",
    ),
    _identifying(
        "a photograph",
        "Q",
        "photo*, picture, portrait, face image, mugshot, foto*, lichtbild, bild, passbild, "
        "fotografia, imagen",
    ),
    _identifying(
        "a street address",
        "B",
        "street*, street address, =address, home address, postal address, mailing address, "
        "residential address, address line, house number, *strasse, hausnummer, anschrift, "
        "=adresse, wohnadresse, postanschrift, =rue, adresse postale, domicile, =calle, "
        "direccion, direccion postal, domicilio",
    ),
    _identifying(
        "a number of a person",
        "R",
        "passport*, passport number, national id*, identity card*, id card*, id number, tax id*, "
        "tax number, tin, user id, user name, login, employee id, employee number, customer id, "
        "customer number, client id, student id, person id, person number, subject id, "
        "participant id, respondent id, household id, hh id, hid, donor id, "
        "pseudonym*, voter id, personalausweis*, "
        "ausweisnummer, reisepass*, passnummer, steuernummer, steuer id*, personalnummer, "
        "kundennummer, matrikelnummer, mitarbeiternummer, personen id, personnummer, "
        "passeport*, carte d identite, identifiant, numero fiscal, numero client, pasaporte*, "
        "dni, =nie, nif, curp, rut, documento de identidad, numero de cliente, usuario",
    ),
    _identifying(
        "an identifier",
        "R",
        "id, ids, identifier*, uid, uuid, guid, key, number, nr, no, num, code, name, names, "
        "account, *nummer, kennung, schlussel, schluessel, nom, numero, cle, codigo, clave, "
        "identificador",
        weak=True,
    ),
    _sensitive(
        "a state of health",
        "diagnos*, *diagnose, disease*, illness*, condition, conditions, symptom*, comorbid*, "
        "treatment*, therapy*, therapie*, drug*, medication*, prescription*, icd, hiv*, "
        "disability, disabilities, pregnan*, blood group, blood type, *krankheit*, erkrankung*, "
        "behandlung*, medikament*, behinderung, befund*, maladie*, traitement*, medicament*, "
        "handicap*, enfermedad*, tratamiento*, medicamento*, discapacidad",
    ),
    _identifying(
        "remarks in free text",
        "",
        "comment*, remark*, free text, freetext, memo, bemerkung*, kommentar*, notiz*, "
        "anmerkung*, freitext*, commentaire*, remarque*, comentario*, observaciones",
    ),
    _sensitive(
        "money",
        "rent, rents, amount*, *betrag, betrag*, miete*, loyer*, montant*, alquiler*, importe*, "
        "salary, salaries, income*, wage, wages, earning*, pay, tax, taxes, debt*, assets, "
        "savings, expend*, benefit*, pension*, credit score, "
        "gehalt*, *einkommen*, lohn*, verdienst*, schulden, salaire*, revenu*, dette*, "
        "salario*, sueldo*, ingresos, deuda*",
    ),
    _sensitive(
        "beliefs or politics",
        "religion*, religious*, confession, faith, political*, party, vote, votes, union, "
        "trade union*, konfession*, politisch*, partei, gewerkschaft*, croyance*, "
        "parti politique, syndicat*, religieu*, partido, sindicato, creencia*",
    ),
    _sensitive(
        "sex life or offences",
        "sexual*, offen[cs]e*, crime*, criminal*, "
        "conviction*, arrest*, straftat*, vorstrafe*, infraction*, condamnation*, delito*, "
        "antecedentes*",
    ),
    _sensitive(
        "a result",
        "score, scores, result, results, grade, grades, outcome, ergebnis*, noten, "
        "resultat*, resultado*, notas",
    ),
    _quasi(
        "a date of birth",
        "C",
        "birth, birth*, date of birth, dob, born, year of birth, yob, *geburtsdatum, "
        "geburtstag, geburtsjahr, geboren, *naissance, ne le, nacimiento, fecha nac*",
    ),
    _quasi("an age", "C", "age, ages, age group, alter, altersgruppe, edad, edades"),
    _quasi(
        "a date about a person",
        "C",
        "date, dates, admitted, admission*, discharge*, date of death, death, died, "
        "visit date, datum, *datum, aufnahme, entlassung, todes*, date d entree, "
        "date de sortie, deces, fecha*, ingreso, alta, defuncion",
    ),
    _quasi(
        "a postcode",
        "B",
        "zip*, =post, postal*, post code, plz, postleitzahl, code postal, codigo postal",
    ),
    _quasi(
        "a position",
        "B",
        "latitude, longitude, lat, lon, lng, gps*, geo code, geo location, coordinates, "
        "koordinaten, coordonnees, coordenadas",
    ),
    _quasi(
        "a place",
        "B",
        "city, town, village, municipality, county, district, region, suburb, neighbo*rhood, "
        "census tract, place, residence, location, bundesland, stadt, ort, wohnort, gemeinde, "
        "kreis, landkreis, bezirk, ville, commune, departement, quartier, lieu, ciudad, municipio, "
        "provincia, localidad, barrio, pueblo",
    ),
    _quasi(
        "a country or nationality",
        "",
        "country, countries, nationality, citizenship, native country, country of birth, state, "
        "land, staat, staatsangehorigkeit, staatsangehoerigkeit, nationalitat, nationalitaet, "
        "herkunft, pays, nationalite, pais, nacionalidad",
    ),
    _quasi("a sex", "", "sex, gender, geschlecht, sexe, genre, sexo, genero"),
    _quasi(
        "an origin",
        "",
        "race, races, ethnic*, etni*, ethnie*, migration*, origine, raza, origen",
    ),
    _quasi(
        "a family situation",
        "",
        "marital*, marstat, married, relationship, household size, children, family size, "
        "familienstand, kinder, verheiratet, situation familiale, etat civil, enfants, "
        "estado civil, hijos",
    ),
    _quasi(
        "an education or occupation",
        "",
        "educ*, degree, school, university, isced, isco, nace, occu*, work*, job*, profession*, "
        "employer, industry, bildung*, schulabschluss, beruf*, arbeit*, arbeitgeber, branche, "
        "diplome, metier, emploi, employeur, educacion, estudios, ocupacion, profesion, empleo, "
        "empleador",
    ),
)
"""In the order in which they are compared: the first of a role counts."""


READY_SIGNS = (
    ReadySign("isco-08", "isco"),
    ReadySign("nace-2", "nace"),
    ReadySign("icd-10-cm", "icd cm"),
    ReadySign("icd-10", "icd"),
    ReadySign("isced-2011", "isced"),
    ReadySign(
        "countries",
        "country, countries, nationality, citizenship, staatsangehorigkeit, "
        "staatsangehoerigkeit, nationalitat, nationalitaet, herkunftsland, geburtsland, pays, "
        "nationalite, pais, nacionalidad",
    ),
    ReadySign("german-states", "bundesland"),
    ReadySign("us-states", "us state, =state, state code, state fips"),
    ReadySign("postcodes-us", "zip*"),
    ReadySign("postcodes-de", "plz, postleitzahl"),
    ReadySign("postcodes-fr", "code postal"),
    ReadySign("postcodes-es", "codigo postal"),
    ReadySign("sex", "sex, gender, geschlecht"),
    ReadySign("years", "=year, year of birth, birth year, yob, =jahr, geburtsjahr, =annee"),
    ReadySign("marital-status", "marital status, familienstand"),
)
"""In the order in which they are compared: the first counts."""


# Values


@dataclass(frozen=True)
class ValueSign:
    """A pattern of the values of a column."""

    what: str
    role: Role
    letter: str
    matches: Callable[[str], bool]


def _like(expression: str) -> Callable[[str], bool]:
    pattern = re.compile(expression, re.IGNORECASE | re.ASCII)
    return lambda text: pattern.fullmatch(text) is not None


def _is_ip(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", re.ASCII)


def _is_iban(text: str) -> bool:
    """Whether a text is an IBAN with the right check digits (ISO 13616: 1 modulo 97).

    >>> _is_iban("GB82 WEST 1234 5698 7654 32"), _is_iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    joined = text.replace(" ", "").upper()
    if _IBAN.fullmatch(joined) is None:
        return False
    turned = joined[4:] + joined[:4]
    return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1


_CARD = re.compile(r"[2-6][0-9]{12,18}", re.ASCII)


def _is_card(text: str) -> bool:
    """Whether a text is the number of a payment card with the right check digit (Luhn's).

    >>> _is_card("4111 1111 1111 1111"), _is_card("4111 1111 1111 1112")
    (True, False)
    """
    joined = re.sub(r"[ -]", "", text)
    if _CARD.fullmatch(joined) is None:
        return False
    digits = [int(digit) for digit in reversed(joined)]
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + doubled) % 10 == 0


_DAY = re.compile(r"[0-3]?[0-9][./-][0-3]?[0-9][./-]([12][0-9])?[0-9]{2}", re.ASCII)
_MOMENT = re.compile(r"[12][0-9]{3}-[01][0-9]-[0-3][0-9]([T ][0-9:.]+.*)?", re.ASCII)


def _is_date(text: str) -> bool:
    if _DAY.fullmatch(text):
        return True
    if _MOMENT.fullmatch(text) is None:
        return False
    try:
        Kind.DATE.key(text[:10])
    except (ValueError, TypeError):
        return False
    return True


_WRITTEN_PHONE = re.compile(
    r"(\+|00?)[1-9][0-9 ()./-]{5,20}"  # with a trunk or country code
    r"|\(?[0-9]{3}\)?[ .-]?[ ]?[0-9]{3}[ .-][0-9]{4}",  # as in North America
    re.ASCII,
)


def _is_phone(text: str) -> bool:
    digits = sum(letter.isdigit() for letter in text)
    is_written = _WRITTEN_PHONE.fullmatch(text) is not None
    return is_written and 7 <= digits <= 15 and not _is_date(text)  # 15: ITU-T E.164


_FREE_WORDS, _FREE_LENGTH = 4, 25


def _is_free_text(text: str) -> bool:
    """Whether somebody wrote a sentence, rather than chose a value."""
    return len(text) >= _FREE_LENGTH and len(text.split()) >= _FREE_WORDS


VALUE_SIGNS = (
    ValueSign("e-mail addresses", Role.IDENTIFYING, "F", _like(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+")),
    ValueSign(
        "social security numbers",
        Role.IDENTIFYING,
        "G",
        _like(r"(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}"),
    ),
    ValueSign("IBANs, with their check digits", Role.IDENTIFYING, "J", _is_iban),
    ValueSign("payment card numbers, with their check digit", Role.IDENTIFYING, "J", _is_card),
    ValueSign("IP addresses", Role.IDENTIFYING, "O", _is_ip),
    ValueSign(
        "hardware (MAC) addresses",
        Role.IDENTIFYING,
        "M",
        _like(r"[0-9a-f]{2}([:-][0-9a-f]{2}){5}"),
    ),
    ValueSign("image files", Role.IDENTIFYING, "Q", _like(r"\S.*\.(jpe?g|png|heic|tiff?|bmp)")),
    ValueSign("web addresses", Role.IDENTIFYING, "N", _like(r"((https?|ftp)://\S+|www\.\S+\.\S+)")),
    ValueSign(
        "UUIDs",
        Role.IDENTIFYING,
        "R",
        _like(r"\{?[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\}?"),
    ),
    ValueSign("telephone numbers", Role.IDENTIFYING, "D", _is_phone),
    ValueSign("dates", Role.QUASI, "C", _is_date),
    ValueSign("free texts, which may name anybody", Role.IDENTIFYING, "", _is_free_text),
)
"""The first that fits counts."""
