"""wheel_record.py WHEEL: RECORD has each file of the wheel, its bytes and its hash; the name has the tag of WHEEL, and a manylinux wheel needs nothing of others."""
import base64
import csv
import hashlib
import pathlib
import sys
import zipfile

path = pathlib.Path(sys.argv[1])
name, version, *tag = path.stem.split("-")
with zipfile.ZipFile(path) as wheel:
    info = f"{name}-{version}.dist-info"
    rows = list(csv.reader(wheel.read(f"{info}/RECORD").decode().splitlines()))
    assert sorted(row[0] for row in rows) == sorted(wheel.namelist()), "RECORD has other files than the wheel"
    assert len({row[0] for row in rows}) == len(rows)
    for file, digest, size in rows:
        data = wheel.read(file)
        if file == f"{info}/RECORD":
            assert not digest and not size
            continue
        assert int(size) == len(data), file
        assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), file
    said = wheel.read(f"{info}/WHEEL").decode()
    assert f"Tag: {'-'.join(tag)}\n" in said, said
    external = "Requires-External" in wheel.read(f"{info}/METADATA").decode()
    assert ("manylinux" in tag[-1]) != external, (tag, external)
    wanted = ["kiln/include/kiln/kiln.h", "kiln/include/kiln/ops.h", "kiln/lib/cmake/kiln/kiln-config.cmake", "kiln/bin/kiln", "kiln/__init__.py"]
    assert not set(wanted) - set(wheel.namelist())
    assert all(wheel.getinfo(file).external_attr >> 16 & 0o100 for file in wheel.namelist() if file.startswith("kiln/bin/"))
print(path.name, len(rows), "files")
