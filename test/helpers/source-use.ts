import { Connection } from '../../shared/store/engine/connection.ts';

/** What the rows of a project's database say that its sources store, and what is counted for them. */
export function sourceUseIn(path: string): {
  readonly counted: Readonly<Record<string, number>>;
  readonly stored: Readonly<Record<string, number>>;
} {
  const connection = new Connection(path);
  try {
    const counted = connection.all(
      'SELECT source_id AS id, stored_bytes AS bytes FROM source_use WHERE stored_bytes > 0',
    );
    const stored = connection.all(
      `SELECT e.source_id AS id, sum(e.size_bytes + octet_length(c.headers) + 2048 + coalesce((SELECT sum(size_bytes)
         FROM event_file f WHERE f.event_seq = e.seq), 0)) AS bytes
       FROM event e JOIN event_content c USING (seq) WHERE e.source_id IS NOT NULL AND c.kind IS NOT NULL GROUP BY 1`,
    );
    return {
      counted: Object.fromEntries(counted.map(({ id, bytes }) => [id, Number(bytes)])),
      stored: Object.fromEntries(stored.map(({ id, bytes }) => [id, Number(bytes)])),
    };
  } finally {
    connection.close();
  }
}
