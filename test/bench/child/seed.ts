import { Connection } from '../../../shared/store/engine/connection.ts';

export interface History {
  readonly events: number;
  /** `some`: every tenth is pending, most others done, a few failed, claimed or dead. */
  readonly pending: 'some' | 'all';
}

/** Every so many events of a mixed history is pending. */
const PENDING_EVERY = 10;
const SOURCES = 2;
const DAYS = 20;

/** What is in `seedHistory`'s events. */
export const SEEDED = { source: 'source-1', typePrefix: 'invoice.*' } as const;

const STATUS = `CASE
  WHEN seq % ${PENDING_EVERY} = 0 THEN 'pending'
  WHEN seq % 50 = 1 THEN 'failed'
  WHEN seq % 100 = 2 THEN 'dead'
  WHEN seq % 100 = 3 THEN 'claimed'
  ELSE 'done' END`;

/**
 * Fills the closed database of a project with history, in SQL throughout: a row of the ledger for each event, too. Its
 * hashes are random, as only their place in the indexes matters.
 */
export function seedHistory(
  file: string,
  { events, pending }: History,
): { readonly pendingIds: readonly string[] } {
  const connection = new Connection(file);
  // A seed that is lost in a crash is made again.
  connection.exec('PRAGMA synchronous=OFF; PRAGMA cache_size=-400000; PRAGMA wal_autocheckpoint=0');
  const indexes = connection.all(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('event', 'event_content', 'ledger')",
  );
  connection.exec('BEGIN IMMEDIATE');
  for (const { name } of indexes) connection.exec(`DROP INDEX ${String(name)}`);
  connection.exec('DELETE FROM ledger');
  connection.exec(seedSql(events, pending === 'all' ? "'pending'" : STATUS));
  for (const { sql } of indexes) connection.exec(String(sql));
  connection.exec('COMMIT');
  connection.get('PRAGMA wal_checkpoint(TRUNCATE)');
  connection.close();
  const step = pending === 'all' ? 1 : PENDING_EVERY;
  const pendingIds: string[] = [];
  for (let seq = step; seq <= events; seq += step) pendingIds.push(seededId(seq));
  return { pendingIds };
}

/** Puts `each` of the pending events of a closed database on their way to each of these routes. */
export function seedDeliveries(
  file: string,
  routes: readonly { readonly id: string; readonly url: string }[],
  each: number,
): void {
  const connection = new Connection(file);
  connection.exec('PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=0');
  connection.exec('BEGIN IMMEDIATE');
  connection.exec("UPDATE event SET routed = 1 WHERE status = 'pending'");
  for (const [index, { id, url }] of routes.entries()) {
    connection.run(
      `INSERT INTO delivery (id, event_seq, route_id, url, destination, status, due_at, created_at)
       SELECT 'dlv_' || ? || printf('%024d', seq), seq, ?, ?, ?, 'pending', ?, received_at FROM event WHERE seq <= ?`,
      [String(10 + index), id, url, new URL(url).host, Date.now(), each],
    );
  }
  connection.exec('COMMIT');
  connection.get('PRAGMA wal_checkpoint(TRUNCATE)');
  connection.close();
}

/** A gateway that was closed has noted that nothing falls due: it looks for itself where there is no note. */
export function forgetRests(controlFile: string): void {
  const connection = new Connection(controlFile);
  connection.run('DELETE FROM project_rest');
  connection.close();
}

function seededId(seq: number): string {
  return `evt_01${String(seq).padStart(24, '0')}`;
}

function seedSql(events: number, status: string): string {
  const now = Date.now();
  const start = now / 1000 - DAYS * 86_400;
  const step = (DAYS * 86_400) / (events + 1);
  const later = now + 86_400_000;
  return `
    CREATE TEMP TABLE seed AS
      WITH RECURSIVE counted(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM counted WHERE seq < ${events})
      SELECT seq, 'evt_01' || printf('%024d', seq) AS id, ${status} AS status,
        strftime('%Y-%m-%dT%H:%M:%fZ', ${start} + seq * ${step}, 'unixepoch') AS at,
        'source-' || ((seq * 104729 + 7) / 13 % ${SOURCES}) AS source,
        CASE (seq * 7919 + 13) / 11 % 5 WHEN 0 THEN 'invoice.' WHEN 1 THEN 'push.' WHEN 2 THEN 'pull_request.'
          WHEN 3 THEN 'customer.' ELSE 'release.' END ||
        CASE (seq * 6007 + 5) / 17 % 4 WHEN 0 THEN 'opened' WHEN 1 THEN 'paid' WHEN 2 THEN 'closed' ELSE 'edited' END AS type
      FROM counted;
    INSERT INTO event (seq, id, source_id, source, channel, type, received_at, verified, trust, size_bytes, provider_id,
        body_hash, status, attempts, lease_id, holder_key_id, due_at, finished_at)
      SELECT seq, id, 'src_' || source, source, 'webhook', type, at, 1, 'external_untrusted', 232,
        lower(hex(randomblob(16))), randomblob(32), status, status = 'failed',
        CASE WHEN status = 'claimed' THEN 'lse_' || lower(hex(randomblob(16))) END,
        CASE WHEN status IN ('claimed', 'done') THEN 'key_01' || printf('%024d', 1) END,
        CASE WHEN status IN ('claimed', 'failed') THEN ${later} + seq END,
        CASE WHEN status IN ('done', 'dead') THEN at END
      FROM seed ORDER BY seq;
    INSERT INTO event_content (seq, headers, content_type, kind, body)
      SELECT seq, '{"content-type":"application/json","user-agent":"seed"}', 'application/json', 'json',
        CAST('{"number":' || seq || ',"text":"' || hex(randomblob(100)) || '"}' AS BLOB)
      FROM seed ORDER BY seq;
    INSERT INTO ledger (seq, at, op, subject, outcome, input_digest, prev_hash, hash)
      SELECT seq, at, 'event.received', id, 'ok', lower(hex(randomblob(32))), lower(hex(randomblob(32))),
        lower(hex(randomblob(32)))
      FROM seed ORDER BY seq;
    DROP TABLE seed;`;
}
