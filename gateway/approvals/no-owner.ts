/** Where nobody said who the owner is, what is for them goes to the outbox. */
export const NO_OWNER = 'owner@localhost';
