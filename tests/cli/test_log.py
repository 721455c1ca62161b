"""`--log-json`: the log of the real command."""

import json


def test_the_log_goes_to_standard_error_one_object_a_line(process, server):
    command = process("--log-json", "write", "--premise", "Zephyrine keeps an aqueduct.", "--steps", "1")
    out, err = command.communicate()
    assert command.returncode == 0, err
    lines = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    assert {"open_story", "write", "commit"} <= {line.get("node") for line in lines}
    assert out.strip()
    assert not any(line.startswith("{") for line in out.splitlines())
    told = json.dumps(lines)
    assert "Zephyrine" not in told
    assert "a-key" not in told
