/** The first row of the navigation, in its order. */
export const GROUPS = {
  overview: 'Overview',
  requests: 'Requests',
  events: 'Events',
  disk: 'Disk',
  mail: 'Mail',
  settings: 'Settings',
} as const;

export type PageGroup = keyof typeof GROUPS;

/** The headings among the settings, in their order. */
export const SECTIONS = ['Connections', 'People', 'Access', 'Records'] as const;

export type Section = (typeof SECTIONS)[number];
