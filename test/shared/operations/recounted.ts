import { withRawDatabase } from '../../helpers/database.ts';

/** What the tables of a disk add up to, and what is remembered of that, at one moment: maintenance may commit between two looks. */
export function recounted(database: string) {
  return withRawDatabase(database, (connection) => {
    connection.exec('BEGIN');
    const counted = connection.get(
      `SELECT (SELECT count(*) FROM kv) AS keys,
         (SELECT coalesce(sum(length(value)), 0) FROM kv) AS key_bytes,
         (SELECT coalesce(sum(size_bytes), 0) FROM file) AS file_bytes,
         (SELECT coalesce(sum(size_bytes), 0) FROM upload) AS upload_bytes,
         (SELECT coalesce(sum(length(value)), 0) FROM state_version) AS history_bytes`,
    );
    const sums = connection.all("SELECT name, value FROM disk WHERE name <> 'version'");
    const blobs = connection.all(
      `SELECT digest, refs, (SELECT count(*) FROM file WHERE file.digest = blob.digest) +
         (SELECT count(*) FROM upload WHERE upload.digest = blob.digest) AS named FROM blob`,
    );
    return {
      counted,
      sums: Object.fromEntries(sums.map(({ name, value: sum }) => [name, sum])),
      blobs: blobs.map(({ digest, refs, named }) => ({ digest: String(digest), refs, named })),
    };
  });
}
