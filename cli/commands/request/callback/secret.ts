import { callbackSecretView } from '../../../people/secret-view.ts';
import { showingSecret } from '../../../people/shown-once.ts';

/** `svc request callback secret` */
export const run = showingSecret(callbackSecretView);
