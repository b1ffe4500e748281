import { PREFLIGHT, settings } from './settings.mjs';

export default settings('pure', [
  'src/diff/**/*.ts',
  'src/plan/**/*.ts',
  ...PREFLIGHT.map((file) => `!${file}`),
]);
