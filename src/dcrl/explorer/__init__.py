"""The explorer: a web page on which a repertoire is a map, and every behaviour a robot that moves."""
