import packageJson from '../../package.json' with { type: 'json' };

/** What requests say that they come from. */
export const USER_AGENT = `callsheet/${packageJson.version} node/${process.versions.node}`;
