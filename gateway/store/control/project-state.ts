/** `reserved` while its own database is being made; `held` while it is copied elsewhere; `moved` when it lives there. */
export type ProjectState = 'reserved' | 'active' | 'held' | 'moved';
