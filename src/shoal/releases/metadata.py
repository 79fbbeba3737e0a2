"""`metadata`: a release described for those who find, read and catalogue data.

As a Frictionless Data Package (version 2), as CSVW, and by HealthDCAT-AP (release 8) as JSON-LD.
Uses `Release`; the command line uses it.

A description is made from the files of a release and from the owner's own words, and from nothing
else: whatever input gives the same release has the same description, byte by byte. So it has the
values and the number of rows that the released table shows, and never the input's.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote
from uuid import UUID

import narwhals as nw

from shoal.arguments import require_one_of, typed, typed_fields
from shoal.data import toml
from shoal.data.frames import RowsWithCounts
from shoal.data.kinds import Kind
from shoal.errors import ParameterError, ShoalError, listed, toml_spelling
from shoal.releases.certificate import Certificate
from shoal.releases.release import CERTIFICATE, METADATA, Release, tables_of
from shoal.zones import brief

__all__ = ["About", "Form", "metadata", "name_of"]

Form = Literal["datapackage", "csvw", "healthdcat"]
"""The standards by which a release is described."""

Access = Literal["public", "restricted", "non-public"]

_MEDIA = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.file",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_COMPRESSED = {"gz": "application/gzip", "zst": "application/zstd"}

_MOST_CATEGORIES = 100
"""Released values of a column that are listed: nobody reads a longer list."""

# Frictionless and CSVW have other names for the same types.
_TYPES = {
    Kind.TEXT: ("string", "string"),
    Kind.INTEGER: ("integer", "integer"),
    Kind.FLOAT: ("number", "double"),
    Kind.DATE: ("date", "date"),
}

_EU = "http://publications.europa.eu/resource/authority/"
_HEALTH = "https://hdeu-dcat.data.health.europa.eu/resource/authority/"
_EHDS = "http://data.europa.eu/eli/reg/2025/327/oj"
"""Regulation (EU) 2025/327 on the European Health Data Space."""

_NEEDED = ("title", "homepage", "health_category", "access_body", "access_body_contact")
"""Words that HealthDCAT-AP asks of every dataset, and that no release has."""

_ROLES = {
    "quasi": "quasi-identifying: others may know it of a person",
    "sensitive": "sensitive: nobody should learn it of a person",
    "insensitive": "neither known to others nor sensitive",
}


@typed_fields
@brief
@dataclass(frozen=True, kw_only=True)
class About:
    """What the owner says of a release, in words: none of it is looked up in the data.

    licence: the name of a licence, such as "CC-BY-4.0", or its address
    contact, access_body_contact: an e-mail address, or the address of a page
    homepage: where the release can be had
    columns: what each column means
    health_category: of Article 51 of the EHDS regulation, by its code or address
    health_themes: codes or addresses
    access_body: the Health Data Access Body
    publisher_type: a code of HealthDCAT-AP, or an address
    legislation: addresses of laws; that of the European Health Data Space by default

    >>> About(title="Stays in hospital", licence="CC-BY-4.0")
    About(title='Stays in hospital', licence='CC-BY-4.0', language='en', access='public')
    """

    title: str | None = None
    description: str | None = None
    publisher: str | None = None
    contact: str | None = None
    licence: str | None = None
    homepage: str | None = None
    version: str | None = None
    language: str = "en"
    keywords: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    access: Access = "public"
    population: str | None = None
    health_category: str | None = None
    health_themes: tuple[str, ...] = ()
    access_body: str | None = None
    access_body_contact: str | None = None
    publisher_type: str | None = None
    legislation: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_one_of("access", self.access, *get_args(Access))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "About":
        """The words in a TOML file, whose keys are the names of the fields."""
        file = toml.read(path, "a TOML file with words about a release")
        keys: dict[str, tuple[type, ...]] = {}
        for one in fields(cls):
            if one.name == "columns":
                keys[one.name] = (dict,)
            else:
                keys[one.name] = (list,) if one.default == () else (str,)
        try:
            toml.require_keys(file.content, keys)
            given = dict(file.content)
            for name in [name for name, kinds in keys.items() if kinds == (list,)]:
                if name in given:
                    given[name] = tuple(given[name])
            return cls(**given)
        except ShoalError as error:
            raise error.at(str(file.path), toml_spelling) from None


@typed
def metadata(
    release: str | os.PathLike[str], form: Form = "datapackage", about: About | None = None
) -> str:
    """The release in a directory, described by a standard, as JSON.

    `form` is "datapackage", "csvw" or "healthdcat". FileError if the table is not the one that the
    certificate was written for.

    >>> from tempfile import TemporaryDirectory
    >>> from shoal import NoisyCounts, demo
    >>> with TemporaryDirectory() as folder:
    ...     _ = NoisyCounts(1, "1e-6").release(demo.table(2000)).write(folder)
    ...     described = json.loads(metadata(folder, about=About(title="Stays in hospital")))
    >>> described["title"], described["resources"][0]["path"]
    ('Stays in hospital', 'release.csv')
    """
    require_one_of("form", form, *get_args(Form))
    described = _Described.of(Path(release), about or About())
    made = {
        "datapackage": described.datapackage,
        "csvw": described.csvw,
        "healthdcat": described.healthdcat,
    }[form]()
    return json.dumps(made, ensure_ascii=False, indent=2) + "\n"


def name_of(form: Form) -> str:
    """The name that a description has beside a release, by its standard.

    >>> name_of("datapackage")
    'datapackage.json'
    """
    return METADATA[form]


@dataclass(frozen=True)
class _DescribedColumn:
    """A released column: how its cells are written, and what the certificate says of it."""

    name: str
    kind: Kind
    role: str
    generalised: str
    categories: tuple[str, ...]

    @property
    def words(self) -> str:
        parts = [part for part in (_ROLES.get(self.role), self.generalised) if part]
        return "; ".join(parts) or "added by the method"


@dataclass(frozen=True)
class _Resource:
    """A released table: its files with their sizes and digests, its rows and columns."""

    name: str
    paths: tuple[str, ...]
    sizes: tuple[int, ...]
    digests: tuple[str, ...]
    rows: int
    columns: tuple[_DescribedColumn, ...]


@dataclass(frozen=True)
class _Described:
    """What all descriptions of a release are made from."""

    paper: Certificate
    about: About
    resources: tuple[_Resource, ...]

    @classmethod
    def of(cls, folder: Path, about: About) -> "_Described":
        release = Release.read(folder)
        frames = {"release": release.rows, **release.further}
        files = tables_of(release.certificate)
        resources = []
        for (name, rows), (paths, digests) in zip(frames.items(), files, strict=True):
            resources.append(
                _Resource(
                    name,
                    tuple(paths),
                    tuple((folder / path).stat().st_size for path in paths),
                    tuple(digests),
                    int(rows.shape[0]),
                    tuple(_columns(release.certificate, name, rows)),
                )
            )
        found = cls(release.certificate, about, tuple(resources))
        there = {column.name for resource in resources for column in resource.columns}
        unknown = [name for name in about.columns if name not in there]
        if unknown:
            raise ParameterError(
                f"`columns` describes {listed(unknown)}, which the release does not have",
                "describe released columns",
            )
        return found

    @property
    def format(self) -> str:
        return str((self.paper.file or {})["format"])

    @property
    def address(self) -> str:
        """The random number of the release as a URN."""
        return UUID(hex=self.paper.number).urn

    @property
    def title(self) -> str:
        return self.about.title or f"Release {self.paper.number}"

    @property
    def description(self) -> str:
        """The owner's words, and always the promise."""
        promise = f"Released with this promise: {self.paper.statement}."
        return f"{self.about.description}\n\n{promise}" if self.about.description else promise

    def meaning(self, column: _DescribedColumn) -> str:
        own = self.about.columns.get(column.name)
        return f"{own} ({column.words})" if own else column.words

    # Frictionless Data Package 2

    def datapackage(self) -> dict[str, Any]:
        about = self.about
        contributor = _without_none({"title": about.publisher, "roles": ["publisher"]})
        if about.contact is not None:
            contributor["path" if "://" in about.contact else "email"] = about.contact
        return _without_none(
            {
                "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
                "name": f"release-{self.paper.number}",
                "id": self.address,
                "title": self.title,
                "description": self.description,
                "version": about.version,
                "homepage": about.homepage,
                "keywords": list(about.keywords) or None,
                "licenses": [_licence(about.licence)] if about.licence else None,
                "contributors": [contributor] if about.publisher or about.contact else None,
                "resources": [self._resource(resource) for resource in self.resources],
                "shoal": {
                    "certificate": CERTIFICATE,
                    "method": self.paper.method,
                    "version": self.paper.version,
                    "promise": dict(self.paper.promise),
                    "unprotected": list(self.paper.unprotected),
                },
            }
        )

    def _resource(self, resource: _Resource) -> dict[str, Any]:
        alone = len(resource.paths) == 1
        form, _, compression = self.format.partition(".")
        is_csv = form == "csv"
        return _without_none(
            {
                "name": _slug(resource.name),
                "path": resource.paths[0] if alone else list(resource.paths),
                "type": "table",
                "format": form,
                "compression": compression or None,
                "mediatype": _MEDIA.get(form),
                "encoding": "utf-8" if is_csv else None,
                "bytes": resource.sizes[0] if alone else None,
                "hash": f"sha256:{resource.digests[0]}" if alone else None,
                "dialect": {"delimiter": ",", "header": True} if is_csv else None,
                "schema": {
                    "fields": [self._field(column) for column in resource.columns],
                    "missingValues": [""],
                },
            }
        )

    def _field(self, column: _DescribedColumn) -> dict[str, Any]:
        return _without_none(
            {
                "name": column.name,
                "type": _TYPES[column.kind][0],
                "description": self.meaning(column),
                "categories": list(column.categories) or None,
            }
        )

    # CSVW

    def csvw(self) -> dict[str, Any]:
        if self.format != "csv":
            raise ParameterError(
                f"CSVW describes CSV files, and the release is in the format {self.format!r}",
                "describe it as a data package, or release it as CSV",
            )
        about = self.about
        return _without_none(
            {
                "@context": ["http://www.w3.org/ns/csvw", {"@language": about.language}],
                "@id": self.address,
                "dc:title": self.title,
                "dc:description": self.description,
                "dc:publisher": about.publisher,
                "dc:license": about.licence and _licence_words(about.licence),
                "dcat:keyword": list(about.keywords) or None,
                "tables": [
                    {
                        "url": path,
                        "dialect": {"delimiter": ",", "header": True, "encoding": "utf-8"},
                        "tableSchema": {
                            "columns": [
                                {
                                    "name": _variable(column.name),
                                    "titles": column.name,
                                    "datatype": _TYPES[column.kind][1],
                                    "null": "",
                                    "dc:description": self.meaning(column),
                                }
                                for column in resource.columns
                            ]
                        },
                    }
                    for resource in self.resources
                    for path in resource.paths
                ],
            }
        )

    # HealthDCAT-AP

    def healthdcat(self) -> dict[str, Any]:
        about = self.about
        missing = [name for name in _NEEDED if getattr(about, name) is None]
        if missing:
            raise ParameterError(
                f"HealthDCAT-AP asks for {listed(missing)}, which no release has",
                "say them in `about`",
            )
        assert about.access_body is not None
        assert about.access_body_contact is not None
        publisher = None
        if about.publisher:
            publisher = _agent(about.publisher, about.contact, about.publisher_type)
        access = about.access.upper().replace("-", "_")
        return {
            "@context": _CONTEXT,
            **_without_none(
                {
                    "@id": self.address,
                    "@type": "dcat:Dataset",
                    "dct:title": self._said(self.title),
                    "dct:description": self._said(self.description),
                    "dct:identifier": self.paper.number,
                    "dct:accessRights": _node(f"{_EU}access-right/{access}"),
                    "dcatap:applicableLegislation": self._laws,
                    "dcat:theme": _node(f"{_EU}data-theme/HEAL"),
                    "dcat:keyword": [self._said(word) for word in about.keywords] or None,
                    "dcat:version": about.version,
                    "dcat:landingPage": _node(str(about.homepage)),
                    "dct:publisher": publisher,
                    "dcat:contactPoint": about.contact and _card(about.contact),
                    "dct:provenance": {
                        "@type": "dct:ProvenanceStatement",
                        "rdfs:label": self._said(self._made),
                    },
                    "healthdcatap:hdab": _agent(about.access_body, about.access_body_contact),
                    "healthdcatap:healthCategory": _node(
                        _coded("healthcategories", str(about.health_category))
                    ),
                    "healthdcatap:healthTheme": [
                        _node(_coded("health-theme", theme)) for theme in about.health_themes
                    ]
                    or None,
                    "healthdcatap:populationCoverage": about.population
                    and self._said(about.population),
                    "healthdcatap:numberOfRecords": _number(self.resources[0].rows),
                    "healthdcatap:hasStructuredData": True,
                    "healthdcatap:hasVariables": self._variables,
                    "dcat:distribution": list(self._distributions),
                }
            ),
        }

    @property
    def _made(self) -> str:
        """How the release came about."""
        left = "; ".join(self.paper.unprotected)
        return (
            f"Made from private records by Shoal {self.paper.version} with the method "
            f"{self.paper.method}. Promise: {self.paper.statement}. Not protected: {left}."
        )

    @property
    def _laws(self) -> list[dict[str, str]]:
        return [_node(law) for law in self.about.legislation or (_EHDS,)]

    def _said(self, words: str) -> dict[str, str]:
        return {"@value": words, "@language": self.about.language}

    @property
    def _variables(self) -> dict[str, Any]:
        tables = []
        for resource in self.resources:
            columns = [
                {
                    "@type": "csvw:Column",
                    "csvw:name": _variable(column.name),
                    "csvw:title": self._said(column.name),
                    "csvw:datatype": _TYPES[column.kind][1],
                    "dct:description": self._said(self.meaning(column)),
                }
                for column in resource.columns
            ]
            tables.append(
                {
                    "@type": "csvw:Table",
                    "dct:title": self._said(resource.name),
                    "csvw:column": columns,
                }
            )
        return {
            "@type": "csvw:TableGroup",
            "dct:title": self._said(self.title),
            "csvw:table": tables,
        }

    @property
    def _distributions(self) -> Iterator[dict[str, Any]]:
        about = self.about
        form, _, compression = self.format.partition(".")
        media, compressed = _MEDIA.get(form), _COMPRESSED.get(compression)
        iana = "https://www.iana.org/assignments/media-types/"
        for resource in self.resources:
            for path, size, digest in zip(
                resource.paths, resource.sizes, resource.digests, strict=True
            ):
                yield _without_none(
                    {
                        "@type": "dcat:Distribution",
                        "dct:title": self._said(path),
                        "dct:description": self._said(f"The file {path} of the release."),
                        "dcat:accessURL": _node(str(about.homepage)),
                        "dcat:mediaType": media and _node(iana + media),
                        "dcat:compressFormat": compressed and _node(iana + compressed),
                        "dct:format": _node(f"{_EU}file-type/CSV") if form == "csv" else None,
                        "dct:license": about.licence and _node_of_licence(about.licence),
                        "dcatap:applicableLegislation": self._laws,
                        "dcat:byteSize": _number(size),
                        "spdx:checksum": {
                            "@type": "spdx:Checksum",
                            "spdx:algorithm": _node("spdx:checksumAlgorithm_sha256"),
                            "spdx:checksumValue": {"@value": digest, "@type": "xsd:hexBinary"},
                        },
                    }
                )


_CONTEXT = {
    "csvw": "http://www.w3.org/ns/csvw#",
    "cv": "http://data.europa.eu/m8g/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcatap": "http://data.europa.eu/r5r/",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "healthdcatap": "http://healthdataportal.eu/ns/health#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "spdx": "http://spdx.org/rdf/terms#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


def _columns(paper: Certificate, table: str, rows: Any) -> Iterator[_DescribedColumn]:
    """The columns of a released table, in its order."""
    frame = nw.from_native(RowsWithCounts.of(rows).frame, eager_only=True)
    said = {
        column["name"]: column
        for column in paper.columns
        if column.get("table", table) == table or table == "release"
    }
    # What spreadsheets would run is written otherwise than it is read, so that only texts are sure.
    is_neutral = bool((paper.file or {}).get("neutralised"))
    refined = {name for name, _ in paper.refined.steps} if paper.refined is not None else set()
    for name in frame.columns:
        column = said.get(name, {"role": "", "type": "text"})
        values = [value for value in frame[name].unique().to_list() if value is not None]
        kind = Kind.TEXT if is_neutral else _kind(str(column["type"]), values)
        texts: Sequence[str] = ()
        if kind is Kind.TEXT and not is_neutral and len(values) <= _MOST_CATEGORIES:
            texts = sorted(map(str, values))
        generalised = ""
        if name in paper.levels:
            generalised = f"generalised to level {paper.levels[name]} of its hierarchy"
        elif name in refined:
            generalised = "generalised to levels of its hierarchy that differ by region"
        yield _DescribedColumn(name, kind, str(column["role"]), generalised, tuple(texts))


def _kind(declared: str, values: Sequence[Any]) -> Kind:
    """The type that all released cells have: the declared one, or else text."""
    if declared not in set(Kind):
        return Kind.TEXT
    kind = Kind(declared)
    try:
        keys = [kind.key(value) for value in values]
    except ValueError:
        return Kind.TEXT
    if kind is Kind.FLOAT and not all(isfinite(float(str(key))) for key in keys):
        return Kind.TEXT
    if kind is Kind.DATE and any(
        str(value) != str(key) for value, key in zip(values, keys, strict=True)
    ):
        return Kind.TEXT
    return kind


def _without_none(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if value is not None}


def _slug(name: str) -> str:
    """A name of a resource: lower-case letters, digits, and a few signs."""
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-") or "table"


def _variable(name: str) -> str:
    """A name of a column that CSVW takes: other characters are percent-encoded.

    >>> _variable("blood group"), _variable("_id"), _variable("e-mail")
    ('blood%20group', '%5Fid', 'e%2Dmail')
    """
    encoded = quote(name, safe="").replace("-", "%2D").replace(".", "%2E").replace("~", "%7E")
    return f"%5F{encoded[1:]}" if encoded.startswith("_") else encoded


def _licence(words: str) -> dict[str, str]:
    return {"path": words} if "://" in words else {"name": words}


def _licence_words(words: str) -> Any:
    return _node(words) if "://" in words else words


def _node_of_licence(words: str) -> dict[str, str]:
    """A licence as the EU's list has it, unless an address is given."""
    if "://" in words:
        return _node(words)
    return _node(f"{_EU}licence/{re.sub(r'[^A-Z0-9]+', '_', words.upper())}")


def _coded(scheme: str, given: str) -> str:
    """The address of a code of HealthDCAT-AP's vocabularies."""
    return given if "://" in given else f"{_HEALTH}{scheme}/{given}"


def _node(address: str) -> dict[str, str]:
    return {"@id": address}


def _number(value: int) -> dict[str, str]:
    return {"@value": str(value), "@type": "xsd:nonNegativeInteger"}


def _agent(name: str, contact: str | None, kind: str | None = None) -> dict[str, Any]:
    """An organisation with its one point of contact."""
    point: dict[str, Any] = {"@type": "cv:ContactPoint"}
    if contact is not None and "://" in contact:
        point["cv:contactPage"] = _node(contact)
    elif contact is not None:
        point["cv:email"] = contact
    return _without_none(
        {
            "@type": "foaf:Agent",
            "foaf:name": name,
            "dct:type": _node(_coded("publisher-type", kind)) if kind else None,
            "cv:contactPoint": point,
        }
    )


def _card(contact: str) -> dict[str, Any]:
    """Where comments go."""
    if "://" in contact:
        return {"@type": "vcard:Kind", "vcard:hasURL": _node(contact)}
    return {"@type": "vcard:Kind", "vcard:hasEmail": _node(f"mailto:{contact}")}
