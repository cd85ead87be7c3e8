-- The ledger is searched by who did something.
CREATE INDEX ledger_actor ON ledger (actor) WHERE actor IS NOT NULL;
