/** Where a sign-in stands. `used` stays so when its time is up; what is denied never comes back. */
export type LoginState = 'waiting' | 'confirmed' | 'denied' | 'used' | 'expired';

/** A sign-in as it stands at a time, whether that was written down or not. */
export function effectiveLoginState(
  login: { readonly state: Exclude<LoginState, 'expired'>; readonly expires_at: number },
  now: number,
): LoginState {
  const ends = login.state === 'waiting' || login.state === 'confirmed';
  return ends && now >= login.expires_at ? 'expired' : login.state;
}
