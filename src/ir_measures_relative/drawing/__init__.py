"""Where things stand in a picture, for matplotlib and for the report alike: maths on arrays, which draws nothing."""
