-- Whose channel it is, as an owner said: another channel of the same person, or the channel itself for somebody who has no
-- other one. Null: nobody said. The channels of one mailbox are one person's anyway.
ALTER TABLE channel ADD COLUMN person_of TEXT;
-- 0: the approval adds no person, because somebody who approved through another channel gave it, or may have.
ALTER TABLE vote ADD COLUMN counts INTEGER NOT NULL DEFAULT 1;
