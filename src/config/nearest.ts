export { editDistance, nearest } from '../core/nearest.ts';
