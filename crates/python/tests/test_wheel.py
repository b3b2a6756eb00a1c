"""What lies in the wheel beside the code."""

from importlib.metadata import files, metadata

import byz


def test_the_wheel_holds_the_texts_of_its_licences():
    told = metadata("byz")
    assert told["License-Expression"] == "MIT OR Apache-2.0" and told["Version"] == byz.__version__
    assert sorted(told.get_all("License-File", [])) == ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"]
    texts = {path.name: path.read_text() for path in files("byz") or [] if path.parent.name == "licenses"}
    assert "Permission is hereby granted" in texts["LICENSE-MIT"] and "Apache License" in texts["LICENSE-APACHE"]
