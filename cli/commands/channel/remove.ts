import { showing } from '../../operation-command.ts';
import { channelRemovedView } from '../../people/channel-view.ts';

/** `svc channel remove` */
export const run = showing(channelRemovedView);
