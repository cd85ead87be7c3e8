// The layout of SQLite's write-ahead log and of its shared index (https://sqlite.org/walformat.html).

export const PAGE_BYTES = 4096;
export const LOG_HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;
/** A frame of the log: its header and one page. */
export const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES;

/** The first bytes of a log. The last bit is set if the checksums are big-endian. */
export const LOG_MAGIC = 0x377f0682;
/** When SQLite restarts a log, the log and its frames get new salts. */
export const LOG_SALTS_AT = 16;
export const FRAME_SALTS_AT = 8;
export const SALTS_BYTES = 8;
/** In the header of a log and of a frame: the checksum of the bytes before it. */
export const LOG_CHECK_AT = 24;
export const FRAME_CHECK_AT = 16;
/** In a frame's header: the size of the database in pages if the frame ends a transaction, otherwise 0. */
export const COMMIT_AT = 4;

/** Where the shared index stores the number of the newest frame (`mxFrame`), in the machine's byte order. */
export const NEWEST_FRAME_AT = 16;
