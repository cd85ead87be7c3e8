/**
 * `reserved` until its own database exists; `held` while it is copied elsewhere; `moved` after another gateway has
 * it; `deleting` until nothing is left of it.
 */
export type ProjectState = 'reserved' | 'active' | 'held' | 'moved' | 'deleting';
