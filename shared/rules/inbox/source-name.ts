/** The source of events that the service itself writes. No other source can use this name. */
export const SERVICE_SOURCE = 'service';

/** Valid source names. */
export const SOURCE_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;
