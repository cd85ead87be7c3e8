-- Requests by who asked and what for, for people who look back.
CREATE INDEX request_agent ON request (agent, id) WHERE agent IS NOT NULL;
CREATE INDEX request_action ON request (action, id) WHERE action IS NOT NULL;
