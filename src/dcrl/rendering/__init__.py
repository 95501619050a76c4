"""Videos and pictures of episodes that a repertoire's policies play.

render        a run's policy as a video, a strip or a montage: what `dcrl render` calls
episodes      one episode of a policy, played and ready to be drawn, whatever kind its task is
motion        an episode of a robot's task, recorded: poses, rewards, contacts (needs no OpenGL)
joints        positions of and torques on the driven joints of a recorded episode
frames        an episode of a Gymnasium environment, frame by frame
geometry      the shapes of a robot and their poses
drawing       pictures of a robot in a lit scene
camera        the OpenGL renderer, without a window
video         which moments of an episode to show; captions; strips
montage       the map of an archive with a picture for each region
encoding      pictures as the bytes of an MP4, GIF or PNG file
interruption  Ctrl-C while there is something to clean up
"""
