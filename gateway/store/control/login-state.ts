/** The state of a sign-in. `used` and `denied` are final, even after the sign-in's time is up. */
export type LoginState = 'waiting' | 'confirmed' | 'denied' | 'used' | 'expired';

/** Returns the state at `now`, even if no row records the expiry yet. */
export function effectiveLoginState(
  login: { readonly state: Exclude<LoginState, 'expired'>; readonly expires_at: number },
  now: number,
): LoginState {
  const ends = login.state === 'waiting' || login.state === 'confirmed';
  return ends && now >= login.expires_at ? 'expired' : login.state;
}
