/**
 * `reserved` until its own database exists; `held` while it is copied elsewhere; `moved` after another gateway has
 * it.
 */
export type ProjectState = 'reserved' | 'active' | 'held' | 'moved';
