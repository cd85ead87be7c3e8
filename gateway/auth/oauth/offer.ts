import type { Clock } from '../../../shared/lib/clock.ts';
import type { ServerInfo, Vault } from '../../../shared/kernel/context.ts';
import type { CallbackAllow } from '../../callbacks/callback-allow.ts';
import type { Projects } from '../../projects/projects.ts';
import type { OAuth } from './oauth.ts';

export interface OAuthDeps {
  readonly projects: Projects;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly server: ServerInfo;
  /** Private addresses that clients' documents may be at; for tests and development. */
  readonly allow?: CallbackAllow;
}

/** Opens the authorization server, whose package loads late. */
export type OpenOAuth = () => Promise<OAuth>;

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** Whether tokens may travel to this gateway: over https, or on this machine. */
export function mayOfferOAuth(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl);
  return protocol === 'https:' || LOOPBACK.includes(hostname);
}
