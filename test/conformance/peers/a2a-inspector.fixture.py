"""What a2a-inspector has to say about the cards and events that come as lines of JSON, as `[kind,
value]`.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.environ["MANYHANDS_PEER"], "backend"))

from validators import validate_agent_card, validate_message  # noqa: E402

check = {"card": validate_agent_card, "event": validate_message}
for line in sys.stdin:
    kind, value = json.loads(line)
    print(json.dumps(check[kind](value)))
