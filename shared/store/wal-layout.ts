// Where things stand in a write-ahead log of SQLite and in its shared index (https://sqlite.org/walformat.html).

export const PAGE_BYTES = 4096;
export const LOG_HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;
/** A frame of the log: its header and one page. */
export const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES;

/** The first bytes of a log. Its last bit is set where the checksums are big-endian. */
export const LOG_MAGIC = 0x377f0682;
/** A log that is begun anew gets other salts, and its frames with it. */
export const LOG_SALTS_AT = 16;
export const FRAME_SALTS_AT = 8;
export const SALTS_BYTES = 8;
/** In the header of a log, and in that of a frame: the checksum of what stands before it. */
export const LOG_CHECK_AT = 24;
export const FRAME_CHECK_AT = 16;
/** In the header of a frame: pages of the database after it, where it ends a transaction, and 0 elsewhere. */
export const COMMIT_AT = 4;

/** Where the shared index keeps the number of the newest frame (`mxFrame`), in the machine's byte order. */
export const NEWEST_FRAME_AT = 16;
