import { StartRefusal } from '../shared/host/start-refusal.ts';
import { LOCAL_PROFILE, profileOf, readCredentials, type Profile } from './credentials.ts';
import { parsedUrl } from '../shared/lib/urls.ts';

/** A profile for a project at a gateway. */
export interface GatewayProfile extends Profile {
  readonly gateway: string;
  /** Its key in `credentials.json`. */
  readonly profileName: string;
}

/**
 * The profile of the gateway's project that the daemon serves; null means local mode. `name` defaults to the current
 * profile. Throws `StartRefusal` if the profile doesn't exist or its gateway has no usable address.
 */
export function chosenProfile(
  credentialsFile: string,
  name: string | undefined,
): GatewayProfile | null {
  const stored = readCredentials(credentialsFile);
  const wanted = name ?? stored?.current ?? LOCAL_PROFILE;
  const profile = profileOf(stored, wanted);
  if (!profile) {
    // The first start of local mode creates this profile.
    if (name === undefined || name === LOCAL_PROFILE) return null;
    throw refused(`No profile "${name}". See: svc project list`);
  }
  const { gateway } = profile;
  if (!gateway) return null;
  if (!isWebAddress(gateway)) {
    throw refused(`The profile "${wanted}" has no gateway address. Sign in again: svc login`);
  }
  return { ...profile, gateway, profileName: wanted };
}

function refused(message: string): StartRefusal {
  return new StartRefusal(message, 'settings');
}

function isWebAddress(text: string): boolean {
  return ['http:', 'https:'].includes(parsedUrl(text)?.protocol ?? '');
}
