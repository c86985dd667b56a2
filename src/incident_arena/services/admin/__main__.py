"""`python -m incident_arena.services.admin`: run the admin interface in its pod."""

import sys

from incident_arena.errors import ArenaError
from incident_arena.services.admin.server import main

try:
    main()
except ArenaError as error:
    sys.stderr.write(f"{error}\n")
    sys.exit(error.exit_status)
