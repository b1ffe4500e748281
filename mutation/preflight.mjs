import { PREFLIGHT, settings } from './settings.mjs';

export default settings('preflight', PREFLIGHT);
