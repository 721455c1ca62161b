"""Write zip files whose bytes depend on nothing but what is in them."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from datetime import datetime
from typing import IO


def write_archive(file: IO[bytes], members: Mapping[str, bytes], moment: datetime) -> None:
    """Write `members` in their order, all of them of `moment`; the first is stored as it is if it is EPUB's mimetype.

    Zip files know no year before 1980 or after 2107: the nearest one stands for it.
    """
    when = (
        moment.timetuple()[:6] if 1980 <= moment.year <= 2107 else (1980 if moment.year < 1980 else 2107, 1, 1, 0, 0, 0)
    )
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, when)
            # Else it would be the number of the system that wrote it.
            info.create_system = 3
            info.external_attr = 0o644 << 16
            info.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
