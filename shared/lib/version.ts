/** The release, sent with every answer in X-Service-Version. A test compares it with package.json. */
export const VERSION = '0.1.0';
