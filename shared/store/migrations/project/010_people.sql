-- A request may be asked about twice through one channel. `about` names the notice whose message an edit is for.
ALTER TABLE notice ADD COLUMN about TEXT;
