-- Projects that move to another gateway. The state of a project may be two more: held (it is read and not written, while
-- it is copied) and moved (it lives elsewhere).

-- Base address of the gateway that it moved to; null while it is here, and where nobody said.
ALTER TABLE project ADD COLUMN moved_to TEXT;
