import packageJson from '../../package.json' with { type: 'json' };

/** The version of the package, which every file says that it was written by. */
export const PACKAGE_VERSION: string = packageJson.version;
