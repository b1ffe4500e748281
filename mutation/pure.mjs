import { mutation } from './mutation.mjs';

export default mutation('pure', ['src/diff/**/*.ts', 'src/plan/**/*.ts']);
