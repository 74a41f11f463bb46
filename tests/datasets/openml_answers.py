"""What OpenML answers over the wire, as its programming interface words it.

Four answers make a set: its description, its features and its qualities as JSON (all values are
text, slashes are escaped), and the rows as ARFF; each is compressed where the request says that it
may be. The form is that of the answers which scikit-learn's own tests have recorded. Columns,
targets and identifiers are as the pages of the sets describe them. The rows are made.
"""

import gzip
import hashlib
import io
import json
from email.message import Message
from typing import NamedTuple
from urllib.error import HTTPError

import numpy as np


class Answer(NamedTuple):
    """A set as it is on OpenML.

    Attributes
    ----------
    data_id, file_id : int
    name, target : str
    columns : list of str
        In the order of the file, the target among them.
    classes : tuple of str
        Those of a nominal target.
    identifier : str
        A column that only counts the rows.
    """

    data_id: int
    file_id: int
    name: str
    target: str
    columns: list
    classes: tuple = ()
    identifier: str = ""


def _named(text):
    return text.split()


def _numbered(prefix, n, first=1):
    return [f"{prefix}{i}" for i in range(first, first + n)]


_FLIGHT = ["climbRate", "Sgz", "p", "q"]
_TIMES = _numbered("SeTime", 14), _numbered("diffSeTime", 14)
ANSWERS = {
    "airfoil": Answer(
        *(44957, 22111824, "airfoil_self_noise", "sound_pressure"),
        _named(
            "frequency angle_of_attack chord_length free_stream_velocity "
            "displacement_thickness sound_pressure"
        ),
    ),
    "concrete": Answer(
        *(44959, 22111826, "concrete_compressive_strength", "strength"),
        _named(
            "cement blast_furnace_slag fly_ash water superplasticizer coarse_aggregate "
            "fine_aggregate age strength"
        ),
    ),
    "elevators": Answer(
        *(216, 3655, "elevators", "Goal"),
        [
            *_FLIGHT,
            *["curRoll", "absRoll", "diffClb", "diffRollRate", "diffDiffClb"],
            *_numbered("SaTime", 4),
            *_numbered("diffSaTime", 4),
            *("Sa", "Goal"),
        ],
    ),
    "ailerons": Answer(
        *(296, 52391, "ailerons", "goal"),
        [
            *_FLIGHT,
            *["curPitch", "curRoll", "absRoll", "diffClb", "diffRollRate", "diffDiffClb"],
            *(*_TIMES[0], *_TIMES[1]),
            *("alpha", "Se", "goal"),
        ],
    ),
    "bank32nh": Answer(
        *(558, 52870, "bank32nh", "rej"),
        [
            *(f"a{i}{what}" for i in (1, 2, 3) for what in ["cx", "cy", "sx", "sy", "rho", "pop"]),
            "temp",
            *(f"b{i}{what}" for i in (1, 2, 3) for what in ["x", "y", "call", "eff"]),
            *("mxql", "rej"),
        ],
    ),
    "calhousing": Answer(
        *(537, 52849, "houses", "median_house_value"),
        _named(
            "median_house_value median_income housing_median_age total_rooms "
            "total_bedrooms population households latitude longitude"
        ),
    ),
    "casp": Answer(
        *(44963, 22111830, "physiochemical_protein", "RMSD"),
        ["RMSD", *_numbered("F", 9)],
    ),
    "magic04": Answer(
        *(1120, 54003, "MagicTelescope", "class:"),
        _named(
            "ID fLength: fWidth: fSize: fConc: fConc1: fAsym: fM3Long: fM3Trans: "
            "fAlpha: fDist: class:"
        ),
        ("g", "h"),
        "ID",
    ),
}


def table(answer, n_rows):
    """Return made rows (n, columns) as they are on OpenML, numbers as text."""
    rng = np.random.RandomState(answer.data_id)
    rows = np.round(rng.standard_normal((n_rows, len(answer.columns))) * 100, 4).astype(str)
    rows = rows.astype(object)
    for j, column in enumerate(answer.columns):
        if column == answer.identifier:
            rows[:, j] = np.arange(1, n_rows + 1).astype(str)
        elif answer.classes and column == answer.target:
            rows[:, j] = rng.choice(answer.classes, n_rows)
    return rows


class Server:
    """Answers requests as `urllib.request.urlopen` would.

    Parameters
    ----------
    answer : Answer
    n_rows : int
    status : str
        "active", or "deactivated".
    spoilt : bool
        Whether the rows come otherwise than the description's checksum says.
    """

    def __init__(self, answer, n_rows, status="active", spoilt=False):
        self.answer, self.status, self.spoilt = answer, status, spoilt
        self.rows = table(answer, n_rows)
        self.asked = []

    def __call__(self, request, timeout=None):
        assert request.get_header("Accept-encoding") == "gzip"
        url = request.full_url
        self.asked.append(url)
        data_id = self.answer.data_id
        answers = {
            f"https://www.openml.org/api/v1/json/data/{data_id}": self.description,
            f"https://www.openml.org/api/v1/json/data/features/{data_id}": self.features,
            f"https://www.openml.org/api/v1/json/data/qualities/{data_id}": self.qualities,
            self.url: self.arff,
        }
        if url not in answers:
            body = {"error": {"code": "111", "message": "Unknown dataset"}}
            raise HTTPError(url, 412, "Precondition Failed", Message(), _stream(body))
        return _Response(answers[url]())

    @property
    def url(self):
        answer = self.answer
        return f"https://www.openml.org/data/v1/download/{answer.file_id}/{answer.name}.arff"

    def description(self):
        answer = self.answer
        return _json(
            {
                "data_set_description": {
                    "id": str(answer.data_id),
                    "name": answer.name,
                    "version": "1",
                    "description": "**Author**:   \n**Source**: Unknown - Date unknown  ",
                    "format": "ARFF",
                    "upload_date": "2014-04-23T13:16:02",
                    "licence": "Public",
                    "url": self.url,
                    "file_id": str(answer.file_id),
                    "default_target_attribute": answer.target,
                    "row_id_attribute": answer.identifier or [],
                    "visibility": "public",
                    "status": self.status,
                    "processing_date": "2020-11-20 19:02:18",
                    "md5_checksum": hashlib.md5(self.arff(spoilt=False)).hexdigest(),
                }
            }
        )

    def features(self):
        answer = self.answer
        features = []
        for index, column in enumerate(answer.columns):
            nominal = bool(answer.classes) and column == answer.target
            feature = {
                "index": str(index),
                "name": column,
                "data_type": "nominal" if nominal else "numeric",
                "is_target": str(column == answer.target).lower(),
                "is_ignore": "false",
                "is_row_identifier": str(column == answer.identifier).lower(),
                "number_of_missing_values": "0",
            }
            if nominal:
                feature["nominal_value"] = list(answer.classes)
            features.append(feature)
        return _json({"data_features": {"feature": features}})

    def qualities(self):
        shape = self.rows.shape
        qualities = [
            {"name": "AutoCorrelation", "value": []},
            {"name": "NumberOfFeatures", "value": f"{shape[1]}.0"},
            {"name": "NumberOfInstances", "value": f"{shape[0]}.0"},
            {"name": "NumberOfMissingValues", "value": "0.0"},
        ]
        return _json({"data_qualities": {"quality": qualities}})

    def arff(self, spoilt=None):
        answer = self.answer
        lines = ["% made rows", "", f"@RELATION {answer.name}", ""]
        for column in answer.columns:
            nominal = answer.classes and column == answer.target
            kind = "{" + ",".join(answer.classes) + "}" if nominal else "REAL"
            name = f'"{column}"' if ":" in column else column
            lines.append(f"@ATTRIBUTE {name} {kind}")
        rows = self.rows[::-1] if (self.spoilt if spoilt is None else spoilt) else self.rows
        lines += ["", "@DATA", *(",".join(row) for row in rows)]
        return ("\n".join(lines) + "\n").encode()


class _Response(io.BytesIO):
    def __init__(self, body):
        super().__init__(gzip.compress(body))

    def info(self):
        return {"Content-Encoding": "gzip"}


def _json(content):
    return json.dumps(content).replace("/", r"\/").encode()


def _stream(content):
    return io.BytesIO(_json(content))
