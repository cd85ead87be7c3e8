/** The address of an unknown owner; its mail goes to the outbox. */
export const NO_OWNER = 'owner@localhost';
