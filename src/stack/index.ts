/**
 * `stack/` turns the YAML of a stack into the resources that it wants. It reads every file of the
 * stack folder, follows the value forms (`$file`, `$ref`, `$secret`, `${var.x}`), checks everything that
 * can be checked without a network, and reports every problem at once with its place.
 *
 * ```
 * discover → yaml (written) → resources → resolve → validate → references, names → desired
 * ```
 */
export { getSource } from './editor/origin.ts';
export { type Loaded, type LoadOptions, loadStack, type Stack } from './load.ts';
export {
  ABSENT,
  MAX_SECRET_BYTES,
  type RunCommand,
  readSecrets,
  type SecretPlace,
} from './secrets.ts';
export { loadSettings, type StackSettings } from './settings.ts';
export { parsePlace } from './state-place.ts';
export { unreadableVariables } from './variables.ts';
export { textsInYaml } from './yaml.ts';
