/** In rows of events: not verified, but the sender sent the source's secret along. Other releases read all but 1 as no. */
export const SECRET_KNOWN = 2;
