-- From now on, what a key made ends when the key expires. It goes on where the key expired earlier, until somebody ends it.
UPDATE key SET revoked_at = expires_at
  WHERE client IS NULL AND revoked_at IS NULL AND expires_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now');

CREATE INDEX key_expiry ON key (expires_at) WHERE revoked_at IS NULL AND expires_at IS NOT NULL;
