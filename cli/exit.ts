/** Exit codes of every command. */
export const EXIT = {
  done: 0,
  refused: 1,
  usage: 2,
  nothing: 3,
  signedOut: 4,
  denied: 5,
  pending: 6,
  unreachable: 7,
  interrupted: 130,
} as const;
