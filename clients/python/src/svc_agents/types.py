"""What the operations take and answer. A newer server may answer more fields and values."""

from ._generated.types import *
