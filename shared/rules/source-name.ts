/** The source of events that the service writes itself. No other source may use this name. */
export const SERVICE_SOURCE = 'service';

/** What sources may be called. */
export const SOURCE_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;
