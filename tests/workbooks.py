"""Workbooks written by hand, so that tests need no package that writes them."""

from zipfile import ZipFile

import pandas as pd

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATED = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="a" Type="{_OFFICE}/%s" Target="%s"/></Relationships>'
)


def write_workbook(path, frame):
    """Write a frame whose values are strings, numbers, dates or missing, each in its own cell."""
    lines = ["".join(map(_cell, row)) for row in [tuple(frame), *frame.itertuples(index=False)]]
    rows = "".join(f"<row>{line}</row>" for line in lines)
    sheet = '<sheet name="rows" sheetId="1" r:id="a"/>'
    with ZipFile(path, "w") as archive:
        archive.writestr("_rels/.rels", _RELATED % ("officeDocument", "xl/workbook.xml"))
        sheets = _RELATED % ("worksheet", "worksheets/rows.xml")
        archive.writestr("xl/_rels/workbook.xml.rels", sheets)
        workbook = f'<workbook {_MAIN} xmlns:r="{_OFFICE}"><sheets>{sheet}</sheets></workbook>'
        archive.writestr("xl/workbook.xml", workbook)
        table = f"<worksheet {_MAIN}><sheetData>{rows}</sheetData></worksheet>"
        archive.writestr("xl/worksheets/rows.xml", table)


def _cell(value):
    if pd.isna(value):
        return "<c/>"
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    if isinstance(value, pd.Timestamp):
        return f'<c t="d"><v>{value.isoformat()}</v></c>'
    return f"<c><v>{value}</v></c>"
