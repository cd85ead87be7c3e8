import type { LoginState } from '../store/control/login-state.ts';

/** A sign-in as the person is shown it who was mailed its link. */
export interface LoginView {
  readonly state: LoginState;
  /** As `ENJOY-RIVER-42`: the same on the terminal. */
  readonly userCode: string;
  /** As `a***@example.com`. */
  readonly email: string;
  readonly client: LoginClient;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The time of the gateway. */
  readonly now: number;
}

/** Who began a sign-in. All but the address is what they say of themselves: it is text, shown as text. */
export interface LoginClient {
  readonly name: string | null;
  readonly version: string | null;
  readonly host: string | null;
  readonly userAgent: string | null;
  /** The network address it came from, as far as that is known. */
  readonly address: string;
}

/** Where links of sign-ins lead. An unknown token is null; looking never confirms. */
export interface LoginService {
  open(token: string): Promise<LoginView | null>;
  /** Confirms it if it waits: whoever began it is signed in. */
  confirm(token: string): Promise<LoginView | null>;
  /** Ends it if it waits. */
  deny(token: string): Promise<LoginView | null>;
}
